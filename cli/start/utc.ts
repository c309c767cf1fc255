// Sets the time zone of this process to UTC. The template library calculates in the time zone of the process, by
// default the zone of the machine. When daylight saving time skips an hour in that zone, results would be an hour
// wrong. Node applies the change at once, and threads and child processes inherit the time zone.
process.env.TZ = 'UTC';
