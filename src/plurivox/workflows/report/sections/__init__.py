"""The sections of a report, one file each: functions from inputs and results to a Section."""
