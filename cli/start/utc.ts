// Sets the time zone of this process to UTC. The template library calculates in the time zone of the machine, and its
// results would be an hour wrong when daylight saving time skips an hour there. Node applies the change at once, and
// threads and child processes inherit it.
process.env.TZ = 'UTC';
