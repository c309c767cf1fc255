// The template library calculates in the host's time zone. When daylight saving time skips an hour there, its times
// would be an hour off. Node applies this at once, and threads and child processes inherit it.
process.env.TZ = 'UTC';
