"""Running a process well; the floor under everything that starts one."""
