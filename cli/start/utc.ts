// The template library calculates by the clocks of the host: where these skip an hour, its times would be an hour off.
// Node applies this at once, and threads and child processes inherit it.
process.env.TZ = 'UTC';
