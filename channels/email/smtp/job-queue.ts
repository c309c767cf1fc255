import type { SmtpJob } from './types.ts';

const COMPACT_AT = 1024;

/**
 * A queue of messages, first in, first out. Messages that a broken connection returned are at the front. `Array.shift`
 * is not used, because it would copy a long queue for every message.
 */
export class JobQueue {
  private jobs: (SmtpJob | undefined)[] = [];
  private head = 0;
  private readonly returned: SmtpJob[] = [];

  /** The number of jobs. It includes cancelled jobs that have not reached the front yet. */
  get length(): number {
    return this.jobs.length - this.head + this.returned.length;
  }

  push(job: SmtpJob): void {
    this.jobs.push(job);
  }

  putBack(job: SmtpJob): void {
    job.state = 'queued';
    this.returned.push(job);
  }

  /** Returns the next job that is not cancelled. */
  shift(): SmtpJob | undefined {
    let job = this.next();
    while (job?.state === 'cancelled') job = this.next();
    if (job) job.state = 'taken';
    return job;
  }

  /** Cancels a job. Returns true if the job was still in the queue. */
  cancel(job: SmtpJob): boolean {
    if (job.state !== 'queued') return false;
    job.state = 'cancelled';
    return true;
  }

  /** Empties the queue. Returns its jobs that are not cancelled. */
  takeAll(): SmtpJob[] {
    const all: SmtpJob[] = [];
    for (let job = this.shift(); job !== undefined; job = this.shift()) all.push(job);
    return all;
  }

  private next(): SmtpJob | undefined {
    const first = this.returned.pop();
    if (first !== undefined) return first;
    if (this.head === this.jobs.length) return undefined;
    const job = this.jobs[this.head];
    this.jobs[this.head] = undefined;
    this.head += 1;
    if (this.head === this.jobs.length || this.head === COMPACT_AT) {
      this.jobs = this.jobs.slice(this.head);
      this.head = 0;
    }
    return job;
  }
}
