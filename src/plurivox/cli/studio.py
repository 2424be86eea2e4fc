"""`plurivox studio new | serve | demo | export | import | status | pay | backup | restore | erase`: commands of the studio."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command_base_classes import Command, CommandGroup
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import FORCE
from plurivox.cli._click.studio_flags import (
    BACKUP,
    DATABASE,
    DEMO,
    FOLDER,
    FOLDERS,
    FORM,
    GIVEN,
    HOST,
    MAKE,
    NEW,
    NEW_FOLDER,
    OUT,
    PAY_OUT,
    PORT,
    SERVE,
    SOURCE,
    WITH_IDS,
    WORKER,
)
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few, require_package

if TYPE_CHECKING:
    from plurivox.web.server_settings import Settings


ANSWERS_BESIDE = {  # numbers of `status` beside the answers that count -> their names
    "late": "late answers",
    "repeats": "repeats",
    "practice": "practice answers",
    "replaced": "replaced answers",
    "excluded": "of excluded people",
    "all_answers": "all answers",
}
PEOPLE_WORDS = {name: name for name in ("done", "turned away", "excluded", "erased")}  # others are at a stage


def study_settings(study: Path, database: str | None = None, **more: Any) -> "Settings":
    """Return the settings of a study from flags and environment variables; raise InputError if the web packages are missing."""
    for package in ("fastapi", "sqlalchemy", "alembic", "pydantic_settings", "argon2", "PIL", "uvicorn"):
        require_package(package, "the studio", "pip install 'plurivox[web]'")
    from plurivox.web.server_settings import Settings

    given = {name: value for name, value in {**more, "database": database}.items() if value is not None}
    try:
        return Settings(folder=study, **given)
    except ValueError as cause:  # of pydantic
        errors = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in getattr(cause, "errors", list)()]
        raise InputError(first_few(errors).strip("'\"").replace("Value error, ", "")) from None


def run_studio_new(
    screen: Screen,
    study: Path,
    items: Path,
    labels: list[str],
    database: str | None,
    batches: Path | None,
    strata: str | None,
    title: str | None,
    prolific: tuple[str, ...],
    mturk: tuple[str, ...],
    **rest: Any,
) -> CommandResult:
    """Run `plurivox studio new`: create a study folder with study.toml and a database of its tasks."""
    settings = study_settings(study, database)
    from plurivox.web.study.config import parse_study
    from plurivox.web.study.create_study import make_study_from_files

    values = {name: value for name, value in rest.items() if value is not None}
    values |= {"name": study.resolve().name, "labels": labels, "title": title or ""}
    if prolific or mturk:
        values["platforms"] = ["prolific"] * bool(prolific) + ["mturk"] * bool(mturk)
        values |= {"prolific_studies": [*prolific], "mturk_hits": [*mturk]}
    if strata:
        values["strata"] = _parse_batch_size_by_stratum(strata)
    made = parse_study(values, "the study")
    n = make_study_from_files(settings, made, items, batches)
    if batches is not None and (left_out := _count_tasks_in_no_batch(settings)):
        screen.print_note(
            f"{left_out:,} of the {n:,} tasks are in no batch of {batches}: they will not be shown to anyone"
        )
    todo = f"edit {study / 'study.toml'} if you like, then preview it: plurivox studio serve {study}"
    facts = {
        "command": screen.quoted_command_line,
        "study": study,
        "tasks": n,
        **made.model_dump(include={"form", "per_task"}),
    }
    size = f"{count_text(n, 'task')}, {count_text(made.per_task, 'answer')} each"
    return CommandResult(facts, summary=f"{size} -> {study}; {todo}")


def _count_tasks_in_no_batch(settings: "Settings") -> int:
    """Return the number of tasks of a new study that no fixed batch contains, without practice tasks."""
    from plurivox.web.open_study import open_existing_study
    from plurivox.web.store.collect.tasks_batches_quotas import count_tasks_in_no_batch

    with open_existing_study(settings) as studio:
        return studio.read_sync(count_tasks_in_no_batch)


def _parse_batch_size_by_stratum(text: str) -> dict[str, int]:
    """Parse a text such as hard=22,easy=3 into {stratum: number of tasks in a batch}; raise InputError if malformed."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(name and count.isdigit() for name, _, count in pairs):
        raise InputError(f"--strata {text!r} is not valid; write the tasks of each stratum per batch: hard=22,easy=3")
    return {name.strip(): int(count) for name, _, count in pairs}


def run_studio_serve(
    screen: Screen,
    study: tuple[Path, ...],
    database: tuple[str, ...],
    host: str,
    port: int,
    base_url: str | None,
    behind_proxy: str | None,
    processes: int,
) -> CommandResult:
    """Run `plurivox studio serve`: serve one or several studies until Ctrl-C."""
    home = study_settings(study[0], base_url=base_url or _local_url(host, port), behind_proxy=behind_proxy)
    from plurivox.web.server.multi_study import (
        database_url_by_study_folder,
        find_study_folders,
        settings_with_own_base_url_per_study,
    )

    folders = find_study_folders(study)
    if folders == list(study) and len(folders) == 1:
        if len(database) > 1:
            raise InputError("give one --database for one study; several were given")
        alone = home.model_copy(update={"database": database[0]}) if database else home
        return _print_links_and_serve(screen, [alone], host, port, processes)
    where = database_url_by_study_folder([*database], folders, home.database)
    studies = [home.model_copy(update={"folder": one, "database": where[one]}) for one in folders]
    return _print_links_and_serve(
        screen, settings_with_own_base_url_per_study(studies, home.base_url), host, port, processes
    )


def _local_url(host: str, port: int) -> str:
    """Return the address of a server for a browser on the same machine."""
    address = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{address}:{port}"


def _print_links_and_serve(
    screen: Screen, studies: "list[Settings]", host: str, port: int, processes: int
) -> CommandResult:
    """Print the addresses and setup links of the studies and serve them until Ctrl-C."""
    from plurivox.web.open_study import open_existing_study
    from plurivox.web.server.uvicorn_server import raise_if_port_is_not_free, serve
    from plurivox.web.server_settings import warning_if_reachable_without_https, warning_if_visitors_share_an_address
    from plurivox.web.services.owner_sign_in import create_setup_token_unless_owner_exists
    from plurivox.web.services.platform_admission import platforms_that_admit_everyone
    from plurivox.web.study.platforms_that_admit_everyone import warning_that_platform_admits_everyone

    raise_if_port_is_not_free(host, port)
    base_url, behind_proxy = studies[0].base_url, studies[0].behind_proxy
    for warning in (
        warning_if_reachable_without_https(host, base_url),
        warning_if_visitors_share_an_address(base_url, behind_proxy),
    ):
        if warning:
            click.echo(f"warning: {warning}", err=True)  # also with --quiet
    for settings in studies:
        with open_existing_study(settings) as studio:
            open_platforms = studio.read_sync(partial(platforms_that_admit_everyone, study=studio.study))
            token = studio.writer.submit(partial(create_setup_token_unless_owner_exists, keys=studio.keys)).result()
        if not screen.quiet:
            click.echo(
                f"study {studio.study.name} at {settings.base_url}, owner's pages at {settings.base_url}/owner",
                err=True,
            )
        for platform in open_platforms:
            click.echo(warning_that_platform_admits_everyone(settings.folder, studio.study, platform), err=True)
        if studio.study.pay.pays_time_without_limit:
            click.echo(
                f"warning: study {studio.study.name} pays time without limit; set most_minutes = 120 in [pay] of "
                f"{settings.folder / 'study.toml'}",
                err=True,
            )
        if token is not None:
            click.echo(
                f"open this link to become the owner (it works once): {settings.base_url}/owner#setup={token}", err=True
            )
    serve(studies, host, port, processes)
    facts: dict[str, Any] = {"study": studies[0].folder, "address": studies[0].base_url}
    if len(studies) > 1:
        facts = {"studies": [{"study": one.folder, "address": one.base_url} for one in studies]}
    return CommandResult(facts, summary="stopped; all answers are saved")


def run_studio_demo(screen: Screen, study: Path, host: str, port: int, only_make: bool) -> CommandResult:
    """Run `plurivox studio demo`: create the demo study if it does not exist yet, and serve it."""
    settings = study_settings(study, "", base_url=_local_url(host, port))
    if not (study / "study.toml").is_file():
        from plurivox.web.study.demo_study import make_demo_study_with_simulated_answers

        n = make_demo_study_with_simulated_answers(study)
        screen.print_note(f"{n:,} simulated answers -> {study}")
    if only_make:
        return CommandResult({"study": study}, summary=f"run: plurivox studio serve {study}")
    return _print_links_and_serve(screen, [settings], host, port, 1)


def run_studio_export_dataset(
    screen: Screen, study: Path, database: str | None, out: Path, form: str, force: bool
) -> CommandResult:
    """Run `plurivox studio export`: write a study with all its answers as a data-set folder."""
    settings = study_settings(study, database)
    from plurivox.web.open_study import open_existing_study
    from plurivox.web.study.commands_after_export import commands_from_export_to_votes
    from plurivox.web.study.export import export_study

    with open_existing_study(settings) as studio:
        n = export_study(studio.engine, studio.study, out, file_format=form, replace=force)
    commands = "; ".join(commands_from_export_to_votes(studio.study, out))
    line = f"{count_text(n, 'answer')}, with repeats -> {out}; next: {commands}"
    return CommandResult({"command": screen.quoted_command_line, "answers": n, "out": out}, summary=line)


def run_studio_import_tasks_or_answers(
    screen: Screen, study: Path, source: Path, database: str | None, answers: bool
) -> CommandResult:
    """Run `plurivox studio import`: add tasks, or answers collected elsewhere, to a study."""
    settings = study_settings(study, database)
    from plurivox.web.open_study import open_existing_study
    from plurivox.web.study.create_study import import_answers_collected_elsewhere, insert_tasks_and_batches
    from plurivox.web.study.read_task_and_answer_files import read_answers_or_none, read_tasks

    with open_existing_study(settings) as studio:
        if not answers:
            n = insert_tasks_and_batches(settings, studio.study, read_tasks(source, studio.study))
            return CommandResult(
                {"command": screen.quoted_command_line, "tasks": n}, summary=f"{study} now has {count_text(n, 'task')}"
            )
        given = read_answers_or_none(source)
        if given is None:
            raise InputError(f"{source} contains no answers")
        job = studio.writer.submit(
            lambda connection: import_answers_collected_elsewhere(connection, studio.study, studio.keys, given)
        )
        n = job.result()
    return CommandResult(
        {"command": screen.quoted_command_line, "answers": n}, summary=f"{count_text(n, 'answer')} added to {study}"
    )


def run_studio_status(screen: Screen, study: Path, database: str | None) -> CommandResult:
    """Run `plurivox studio status`: show the answers of a study by kind and by stratum, and what has become of its people."""
    del screen
    settings = study_settings(study, database)
    from plurivox.web.open_study import open_existing_study
    from plurivox.web.store.report.study_progress import study_progress

    with open_existing_study(settings) as studio:
        found = {name: value for name, value in asdict(studio.read_sync(study_progress)).items() if name != "per_hour"}
    rows = [("state", found["state"]), ("answers that count", f"{found['answers']} of {found['wanted']} wanted")]
    rows += [(text, str(found[name])) for name, text in ANSWERS_BESIDE.items()]
    rows += [("people", f"{sum(found['workers'].values())}, {found['workers_with_answers']} with answers")]
    rows += [(f"people {PEOPLE_WORDS.get(what, f'at {what}')}", str(n)) for what, n in found["workers"].items()]
    rows += [
        (f"stratum {one['stratum'] or '-'}", f"{one['given']} of {one['wanted']}, {one['leased']} leased")
        for one in found["quotas"]
    ]
    facts = {"study": studio.study.name, "people": sum(found["workers"].values()), **found}
    return CommandResult(facts, text=aligned_table_text(rows))


def run_studio_backup(screen: Screen, study: Path, database: str | None, out: Path) -> CommandResult:
    """Run `plurivox studio backup`: copy study.toml, secret key and all tables of a study into a new folder."""
    settings = study_settings(study, database)
    from plurivox.web.study.backup import back_up_study_and_count_rows

    counts = back_up_study_and_count_rows(settings, out)
    saved = f"{count_text(counts['answers'], 'answer')} of {count_text(counts['workers'], 'worker')}"
    line = f"{saved} -> {out} (contains the secret: keep it safe)"
    return CommandResult({"command": screen.quoted_command_line, "out": out, "rows": counts}, summary=line)


def run_studio_restore(screen: Screen, backup: Path, study: Path, database: str | None) -> CommandResult:
    """Run `plurivox studio restore`: restore a backup of a study into a new folder and an empty database."""
    settings = study_settings(study, database)
    from plurivox.web.study.backup import restore_study_and_count_rows

    counts = restore_study_and_count_rows(backup, settings)
    line = f"{count_text(counts['answers'], 'answer')} -> {study}"
    return CommandResult({"command": screen.quoted_command_line, "rows": counts}, summary=line)


def run_studio_write_pay_sheet(
    screen: Screen, study: Path, database: str | None, out: Path, with_ids: bool
) -> CommandResult:
    """Run `plurivox studio pay`: write the pay of each worker of a study, or the bonuses by platform id."""
    settings = study_settings(study, database)
    from plurivox.web.jobs.payroll import write_pay_sheet_and_return_summary
    from plurivox.web.open_study import open_existing_study

    with open_existing_study(settings) as studio:
        totals = write_pay_sheet_and_return_summary(studio.engine, studio.study, out, with_ids)
    line = (
        f"{totals['people']:,} worker{'s' * (totals['people'] != 1)}, {totals['total']} {totals['currency']}".rstrip()
        + f" -> {out}"
    )
    if with_ids:
        line += f" (contains platform ids: keep it safe; {totals['without_id']} workers have no id)"
    return CommandResult({"command": screen.quoted_command_line, "out": out, **totals}, summary=line)


def run_studio_erase_worker(screen: Screen, study: Path, worker: str, database: str | None) -> CommandResult:
    """Run `plurivox studio erase`: erase the data of a worker who withdraws consent."""
    settings = study_settings(study, database)
    from plurivox.web.open_study import open_existing_study
    from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line, try_truncate_sqlite_wal

    with open_existing_study(settings) as studio:
        erased = studio.writer.submit(
            lambda connection: erase_worker_and_return_audit_line(connection, "command line", worker)
        ).result()
        if not try_truncate_sqlite_wal(studio.engine):
            screen.print_note(
                "old copies may remain in the database files until the next VACUUM: see docs/studio_server.md"
            )
    counts = ", ".join(f"{n} {what}" for what, n in erased["gone"].items())
    line = f"{erased['worker']}: erased {counts}; the pseudonym and a line in the audit log remain"
    return CommandResult({"command": screen.quoted_command_line, **erased}, summary=line)


studio = CommandGroup(
    "studio",
    commands=[
        Command(
            "new",
            params=[NEW_FOLDER, DATABASE, *NEW],
            callback=run_studio_new,
            help="Create a study: folder, study.toml and database.",
        ),
        Command("serve", params=[FOLDERS, *SERVE], callback=run_studio_serve, help="Serve studies on the web."),
        Command(
            "demo",
            params=[DEMO, HOST, PORT, MAKE],
            callback=run_studio_demo,
            help="Serve a demo study on digits with simulated answers.",
        ),
        Command(
            "export",
            params=[FOLDER, DATABASE, OUT, FORM, FORCE],
            callback=run_studio_export_dataset,
            help="Write the answers of a study as a data set.",
        ),
        Command(
            "import",
            params=[FOLDER, SOURCE, DATABASE, GIVEN],
            callback=run_studio_import_tasks_or_answers,
            help="Add tasks, or answers collected elsewhere, to a study.",
        ),
        Command("status", params=[FOLDER, DATABASE], callback=run_studio_status, help="Show the progress of a study."),
        Command(
            "backup",
            params=[FOLDER, DATABASE, OUT],
            callback=run_studio_backup,
            help="Back up a study, also while it runs.",
        ),
        Command(
            "pay",
            params=[FOLDER, DATABASE, PAY_OUT, WITH_IDS],
            callback=run_studio_write_pay_sheet,
            help="Write the pay of each worker to a file.",
        ),
        Command(
            "restore",
            params=[BACKUP, NEW_FOLDER, DATABASE],
            callback=run_studio_restore,
            help="Restore a study from a backup.",
        ),
        Command(
            "erase",
            params=[FOLDER, WORKER, DATABASE],
            callback=run_studio_erase_worker,
            help="Erase the data of a worker who withdraws consent.",
        ),
    ],
    help="Collect soft labels from people in a web application.",
)
