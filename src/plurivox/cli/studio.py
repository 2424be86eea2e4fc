"""`plurivox studio new | serve | demo | export | import | status | pay | backup | restore | erase`: the web application."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command import Command, CommandGroup
from plurivox.cli._click.output import CommandResult, Screen, table
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
from plurivox.core.errors import InputError, first_few, require_package

if TYPE_CHECKING:
    from plurivox.web.settings import Settings


def settings_of(study: Path, database: str | None = None, **more: Any) -> "Settings":
    """Where a study is; environment variables stand in for flags that were not given."""
    for package in ("fastapi", "sqlalchemy", "alembic", "pydantic_settings", "argon2", "PIL", "uvicorn"):
        require_package(package, "the studio", "pip install 'plurivox[web]'")
    from plurivox.web.settings import Settings

    given = {name: value for name, value in {**more, "database": database}.items() if value is not None}
    try:
        return Settings(folder=study, **given)
    except ValueError as cause:  # of pydantic
        told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in getattr(cause, "errors", list)()]
        raise InputError(first_few(told).strip("'\"").replace("Value error, ", "")) from None


def run_new(
    screen: Screen,
    study: Path,
    items: Path,
    labels: list[str],
    database: str | None,
    batches: Path | None,
    strata: str | None,
    title: str | None,
    **rest: Any,
) -> CommandResult:
    """A folder with a study.toml, and its tasks in a database."""
    settings = settings_of(study, database)
    from plurivox.web.study.config import study_of
    from plurivox.web.study.create import new_study

    values = {name: value for name, value in rest.items() if value is not None}
    values |= {"name": study.resolve().name, "labels": labels, "title": title or ""}
    if strata:
        values["strata"] = _counts(strata)
    made = study_of(values, "the study")
    n = new_study(settings, made, items, batches)
    todo = f"edit {study / 'study.toml'} as you like, then run: plurivox studio serve {study}"
    facts = {"command": screen.command, "study": study, "tasks": n, **made.model_dump(include={"form", "per_task"})}
    return CommandResult(facts, summary=f"{n:,} tasks, {made.per_task} answers each -> {study}; {todo}")


def _counts(words: str) -> dict[str, int]:
    pairs = [word.partition("=") for word in words.split(",")]
    if not all(name and count.isdigit() for name, _, count in pairs):
        raise InputError(f"{words!r} says no strata; write how many tasks of each a batch has: hard=22,easy=3")
    return {name.strip(): int(count) for name, _, count in pairs}


def run_serve(
    screen: Screen,
    study: tuple[Path, ...],
    database: tuple[str, ...],
    host: str,
    port: int,
    base_url: str | None,
    behind_proxy: str | None,
    processes: int,
) -> CommandResult:
    """Serve until Ctrl-C."""
    home = settings_of(study[0], base_url=base_url or _local(host, port), behind_proxy=behind_proxy)
    from plurivox.web.server.multi_study import databases_of, find_studies, lodge

    folders = find_studies(study)
    if folders == list(study) and len(folders) == 1:
        if len(database) > 1:
            raise InputError("one study has one --database; several were given")
        alone = home.model_copy(update={"database": database[0]}) if database else home
        return _serve(screen, [alone], host, port, processes)
    where = databases_of([*database], folders, home.database)
    lodgers = [home.model_copy(update={"folder": one, "database": where[one]}) for one in folders]
    return _serve(screen, lodge(lodgers, home.base_url), host, port, processes)


def _local(host: str, port: int) -> str:
    return f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}"


def _serve(screen: Screen, studies: "list[Settings]", host: str, port: int, processes: int) -> CommandResult:
    from plurivox.web.server.run import must_be_free, serve
    from plurivox.web.services.owner_sign_in import create_setup_token
    from plurivox.web.studio import open_existing

    must_be_free(host, port)
    for settings in studies:
        with open_existing(settings) as studio:
            token = studio.writer.submit(partial(create_setup_token, keys=studio.keys)).result()
        if not screen.quiet:
            click.echo(f"{studio.study.name} at {settings.base_url}, owners at {settings.base_url}/owner", err=True)
        if token is not None:
            click.echo(
                f"open this to become its owner (it works once): {settings.base_url}/owner#setup={token}", err=True
            )
    serve(studies, host, port, processes)
    facts: dict[str, Any] = {"study": studies[0].folder, "address": studies[0].base_url}
    if len(studies) > 1:
        facts = {"studies": [{"study": one.folder, "address": one.base_url} for one in studies]}
    return CommandResult(facts, summary="stopped; every answer is saved")


def run_demo(screen: Screen, study: Path, host: str, port: int, only_make: bool) -> CommandResult:
    """Make the demo where it is not there yet, and serve it."""
    settings = settings_of(study, "", base_url=_local(host, port))
    if not (study / "study.toml").is_file():
        from plurivox.web.study.demo import make_demo

        n = make_demo(study)
        screen.note(f"{n:,} simulated answers -> {study}")
    if only_make:
        return CommandResult({"study": study}, summary=f"run: plurivox studio serve {study}")
    return _serve(screen, [settings], host, port, 1)


def run_export(screen: Screen, study: Path, database: str | None, out: Path, form: str, force: bool) -> CommandResult:
    """All answers as a data-set folder."""
    settings = settings_of(study, database)
    from plurivox.web.studio import open_existing
    from plurivox.web.study.export import export

    with open_existing(settings) as studio:
        n = export(studio.engine, studio.study, out, form=form, replace=force)
    line = f"{n:,} answers, repeats counted -> {out}; next: plurivox elicit as-asked {out} -o votes"
    return CommandResult({"command": screen.command, "answers": n, "out": out}, summary=line)


def run_import(screen: Screen, study: Path, source: Path, database: str | None, answers: bool) -> CommandResult:
    """More tasks, or answers that were given elsewhere."""
    settings = settings_of(study, database)
    from plurivox.web.studio import open_existing
    from plurivox.web.study.create import add_answers, fill
    from plurivox.web.study.import_tasks import read_answers, read_tasks

    with open_existing(settings) as studio:
        if not answers:
            n = fill(settings, studio.study, read_tasks(source, studio.study))
            return CommandResult({"command": screen.command, "tasks": n}, summary=f"{n:,} tasks in {study} now")
        given = read_answers(source)
        if given is None:
            raise InputError(f"{source} holds no answers")
        job = studio.writer.submit(lambda connection: add_answers(connection, studio.study, studio.keys, given))
        n = job.result()
    return CommandResult({"command": screen.command, "answers": n}, summary=f"{n:,} answers added to {study}")


def run_status(screen: Screen, study: Path, database: str | None) -> CommandResult:
    """Counts and quotas."""
    del screen
    settings = settings_of(study, database)
    from plurivox.web.store.report.study_progress import study_progress
    from plurivox.web.studio import open_existing

    with open_existing(settings) as studio:
        found = {name: value for name, value in asdict(studio.read_sync(study_progress)).items() if name != "per_hour"}
    rows = [(name, str(found[name])) for name in ("state", "answers", "wanted", "repeats", "extras", "replaced")]
    rows += [(f"workers at {stage}", str(n)) for stage, n in found["workers"].items()]
    rows += [
        (f"stratum {one['stratum'] or '-'}", f"{one['given']} of {one['wanted']}, {one['leased']} leased")
        for one in found["quotas"]
    ]
    return CommandResult({"study": studio.study.name, **found}, text=table(rows))


def run_backup(screen: Screen, study: Path, database: str | None, out: Path) -> CommandResult:
    """study.toml, secret and all tables."""
    settings = settings_of(study, database)
    from plurivox.web.study.backup_folder import back_up

    counts = back_up(settings, out)
    line = (
        f"{counts['answers']:,} answers of {counts['workers']:,} workers -> {out} (it holds the secret: keep it safe)"
    )
    return CommandResult({"command": screen.command, "out": out, "rows": counts}, summary=line)


def run_restore(screen: Screen, backup: Path, study: Path, database: str | None) -> CommandResult:
    """A backup into a new folder and an empty database."""
    settings = settings_of(study, database)
    from plurivox.web.study.backup_folder import restore

    counts = restore(backup, settings)
    return CommandResult(
        {"command": screen.command, "rows": counts}, summary=f"{counts['answers']:,} answers -> {study}"
    )


def run_pay(screen: Screen, study: Path, database: str | None, out: Path, with_ids: bool) -> CommandResult:
    """What everybody is paid, and why."""
    settings = settings_of(study, database)
    from plurivox.web.jobs.payroll import write_pay_sheet
    from plurivox.web.studio import open_existing

    with open_existing(settings) as studio:
        told = write_pay_sheet(studio.engine, studio.study, out, with_ids)
    line = (
        f"{told['people']:,} worker{'s' * (told['people'] != 1)}, {told['total']} {told['currency']}".rstrip()
        + f" -> {out}"
    )
    if with_ids:
        line += f" (bonuses by platform id: keep it safe; {told['without_id']} have no id)"
    return CommandResult({"command": screen.command, "out": out, **told}, summary=line)


def run_erase(screen: Screen, study: Path, worker: str, database: str | None) -> CommandResult:
    """Withdrawal of consent."""
    settings = settings_of(study, database)
    from plurivox.web.store.admin.erase_worker import erase_worker, truncate_wal
    from plurivox.web.studio import open_existing

    with open_existing(settings) as studio:
        told = studio.writer.submit(lambda connection: erase_worker(connection, "command line", worker)).result()
        if not truncate_wal(studio.engine):
            screen.note("old copies may stay in the database's own files until it tidies up: see docs/studio_server.md")
    gone = ", ".join(f"{n} {what}" for what, n in told["gone"].items())
    line = f"{told['worker']}: {gone} are gone; the pseudonym and a line in the audit stay"
    return CommandResult({"command": screen.command, **told}, summary=line)


studio = CommandGroup(
    "studio",
    commands=[
        Command("new", params=[NEW_FOLDER, DATABASE, *NEW], callback=run_new, help="Make a study."),
        Command("serve", params=[FOLDERS, *SERVE], callback=run_serve, help="Open studies to people."),
        Command(
            "demo", params=[DEMO, HOST, PORT, MAKE], callback=run_demo, help="Open a study on digits, half answered."
        ),
        Command(
            "export",
            params=[FOLDER, DATABASE, OUT, FORM, FORCE],
            callback=run_export,
            help="Write all answers as a data set.",
        ),
        Command(
            "import",
            params=[FOLDER, SOURCE, DATABASE, GIVEN],
            callback=run_import,
            help="Add tasks, or answers given elsewhere.",
        ),
        Command("status", params=[FOLDER, DATABASE], callback=run_status, help="Show how far a study is."),
        Command(
            "backup", params=[FOLDER, DATABASE, OUT], callback=run_backup, help="Copy a study as it is at this moment."
        ),
        Command(
            "pay", params=[FOLDER, DATABASE, PAY_OUT, WITH_IDS], callback=run_pay, help="Write what people are paid."
        ),
        Command("restore", params=[BACKUP, NEW_FOLDER, DATABASE], callback=run_restore, help="Bring a backup back."),
        Command(
            "erase", params=[FOLDER, WORKER, DATABASE], callback=run_erase, help="Erase a person who withdraws consent."
        ),
    ],
    help="Ask people for soft labels in a web application of your own.",
)
