"""The background thread of a server: while the server is the leader, end overdue leases, count answers, and let child
processes compute snapshots and pay, and make reports."""

import json
import logging
import os
import secrets
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from plurivox.core.errors import InputError
from plurivox.web.jobs.child_process import start_child_process
from plurivox.web.jobs.report_launcher import ReportLauncher
from plurivox.web.open_study import Studio
from plurivox.web.store.admin.audit_log import delete_old_refused_sign_ins
from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import Unavailable
from plurivox.web.store.report.answer_counters import (
    count_next_answers_and_return_has_more,
    has_answers_not_in_saved_counters,
)
from plurivox.web.store.report.background_alerts import Alert, list_job_alerts, set_or_delete_alert_of_job
from plurivox.web.store.report.result_snapshots import (
    LEADER_LEASE_SECONDS,
    acquire_or_renew_leader_lease,
    is_result_snapshot_stale,
)
from plurivox.web.study.config import Study, read_study

IDLE_FACTOR = 3.0  # pause after a computation, as a multiple of its duration: at most a quarter of one core is used
ALERT_TEXTS = {  # by job; {} is the error
    "study": "study.toml cannot be used: {}. The results shown are older.",
    "rules": "The exclusion rules could not be applied: {}.",
    "labels": "Soft labels and scores could not be computed: {}. The results shown are older.",
    "pay": "The pay sheet could not be computed: {}. The sheet shown is older.",
}
DAY = 86400.0
log = logging.getLogger(__name__)


class BackgroundThread:
    """A server thread that runs the background jobs every few seconds, with a child process that computes the results."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.name = studio, f"{os.getpid()}-{secrets.token_hex(4)}"
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run_rounds_of_jobs_until_stopped, name="plurivox-background", daemon=True
        )
        self._child: subprocess.Popen[str] | None = None
        # so that `stop_thread_and_child_process` does not miss a child process that is being started
        self._lock = threading.Lock()
        self._not_before = 0.0  # when the next computation may begin
        self._reports = ReportLauncher(studio, self.name)
        self._delete_sign_ins_at = 0.0  # when old lines about refused sign-ins are deleted next
        self._alerts: dict[str, str] = {}  # job -> saved alert, as of this round

    def start_thread_if_settings_allow(self) -> None:
        """Start the thread of background jobs, if the settings allow this server to become the leader."""
        if self.studio.settings.is_leader:
            self._thread.start()

    def stop_thread_and_child_process(self) -> None:
        """Stop the thread of background jobs and kill its child process."""
        self._stopping.set()
        with self._lock:
            if self._child is not None:
                self._child.kill()
        if self._thread.is_alive():
            self._thread.join()
        self._kill_child_process()
        self._reports.stop()

    def _kill_child_process(self) -> None:
        """Kill the child process that computes results, if there is one, and close its pipes."""
        with self._lock:
            child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(BrokenPipeError):
                assert pipe is not None
                pipe.close()

    def _run_rounds_of_jobs_until_stopped(self) -> None:
        """Run a round of background jobs every `snapshot_seconds` until the thread is stopped."""
        while not self._stopping.wait(self.studio.settings.snapshot_seconds):
            self.run_jobs_and_turn_errors_into_alerts()

    def run_jobs_and_turn_errors_into_alerts(self) -> None:
        """Run one round of background jobs; errors become alerts for the owner and log entries, and are never raised."""
        try:
            leads = self.try_to_lead_and_run_jobs()
        except Unavailable:  # the next round tries again
            self._keep_alert_in_memory("database", "The database cannot be written or read.")
            return
        except Exception as cause:
            log.exception("a round of the background thread failed")
            self._save_or_delete_alert(
                "background", f"A background round failed: {type(cause).__name__}. The results shown may be older."
            )
            return
        self.studio.alerts.pop("database", None)
        if leads:
            self._save_or_delete_alert("background", "")

    def try_to_lead_and_run_jobs(self) -> bool:
        """End overdue leases, count answers and update stale results, if this server is the leader; return whether it is."""
        write = self.studio.writer.submit
        if not write(partial(acquire_or_renew_leader_lease, server_name=self.name)).result():
            return False
        # of former leaders too
        self._alerts = {alert.of: alert.what for alert in self.studio.read_sync(list_job_alerts)}
        write(end_some_overdue_leases_and_return_count).result()
        self._delete_old_refused_sign_ins_once_a_day()
        self._reports.start_or_check_process()
        if self.studio.read_sync(has_answers_not_in_saved_counters):
            while write(count_next_answers_and_return_has_more).result() and not self._stopping.is_set():
                write(partial(acquire_or_renew_leader_lease, server_name=self.name)).result()
        if time.monotonic() < self._not_before:
            return True
        began, failed = time.monotonic(), self._has_failed_job_to_try_again()
        try:
            study = read_study(self.studio.settings.folder)
        except InputError as cause:
            self._save_or_delete_alert("study", ALERT_TEXTS["study"].format(cause))
        else:
            self._save_or_delete_alert("study", "")
            if failed or self.studio.read_sync(partial(is_result_snapshot_stale, config_digest=study.config_digest)):
                self._compute_results_and_set_alerts(study)
        self._not_before = time.monotonic() + IDLE_FACTOR * (time.monotonic() - began)
        return True

    def _delete_old_refused_sign_ins_once_a_day(self) -> None:
        """Delete lines about refused sign-ins older than 90 days from the audit log, if the last time was a day ago."""
        if time.monotonic() >= self._delete_sign_ins_at:
            self.studio.writer.submit(delete_old_refused_sign_ins).result()
            self._delete_sign_ins_at = time.monotonic() + DAY

    def _has_failed_job_to_try_again(self) -> bool:
        """Return whether a job of the child process has failed and must be tried again, even without new answers."""
        failed = self._alerts.keys() | self.studio.alerts.keys()
        return not failed.isdisjoint(("rules", "labels", "pay"))

    def _save_or_delete_alert(self, job: str, alert_text: str) -> None:
        """Save the alert of a background job ("": delete it) and log it, if changed; keep it in memory if saving fails."""
        if not alert_text:
            self.studio.alerts.pop(job, None)
        if self._stopping.is_set() or self._alerts.get(job, "") == alert_text:
            return
        if alert_text:
            log.error(alert_text)
        try:
            self.studio.writer.submit(partial(set_or_delete_alert_of_job, job=job, alert_text=alert_text)).result()
        except Exception:  # the next round tries again
            log.exception("the alert could not be saved")
            if alert_text:
                self._keep_alert_in_memory(job, alert_text)
            return
        self._alerts = {**self._alerts, job: alert_text}
        self.studio.alerts.pop(job, None)

    def _keep_alert_in_memory(self, job: str, alert_text: str) -> None:
        """Keep the alert of a background job in the memory of this server, with the time of its first occurrence."""
        known = self.studio.alerts.get(job)
        if known is None or known.what != alert_text:
            self.studio.alerts[job] = Alert(job, alert_text, current_unix_time())

    def _compute_results_and_set_alerts(self, study: Study) -> None:
        """Let the child process compute exclusions, snapshot and pay; set or delete the alert of each of these jobs."""
        errors = self._run_child_and_get_error_or_empty_by_job(study)
        if errors is None or self._stopping.is_set():
            return
        for job, error in errors.items():
            self._save_or_delete_alert(job, ALERT_TEXTS[job].format(error) if error else "")

    def _run_child_and_get_error_or_empty_by_job(self, study: Study) -> dict[str, str] | None:
        """Let the child process compute the results of a study; return job -> error ("" if none), renewing the leader's lease.

        None if the thread is stopping.
        """
        child = self._get_or_start_child_process()
        if child is None:
            return None
        assert child.stdin is not None and child.stdout is not None
        text = ""
        with suppress(BrokenPipeError):
            child.stdin.write(study.model_dump_json() + "\n")
            child.stdin.flush()
            with ThreadPoolExecutor(1, "plurivox-waiting") as waiting:
                line = waiting.submit(child.stdout.readline)
                while True:
                    try:
                        text = line.result(LEADER_LEASE_SECONDS / 3).strip()
                        break
                    except TimeoutError:
                        self._renew_leader_lease_ignoring_failure()
        if not text:
            code = child.poll()
            self._kill_child_process()
            return {"labels": f"the computing process ended{'' if code is None else f' with exit code {code}'}"}
        errors: dict[str, str] = json.loads(text)
        return errors

    def _renew_leader_lease_ignoring_failure(self) -> None:
        """Renew the lease by which this server is the leader; ignore an unavailable database."""
        with suppress(Unavailable):
            self.studio.writer.submit(partial(acquire_or_renew_leader_lease, server_name=self.name)).result()

    def _get_or_start_child_process(self) -> "subprocess.Popen[str] | None":
        """Return the computing child process; start it if there is none or it has ended. None if the thread is stopping."""
        if self._child is not None and self._child.poll() is not None:
            self._kill_child_process()
        with self._lock:
            if self._child is None and not self._stopping.is_set():
                module = "plurivox.web.jobs.compute_process"
                self._child = start_child_process(module, self.studio.settings, subprocess.PIPE)
            return self._child
