import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Db } from '../db/connection.ts';
import { readCpuMs, readMachineCpuMs, readPostgresCpuMs } from '../test/support/process-cpu.ts';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, startService } from '../test/support/start.ts';
import { type ApiClient, createApiClient } from './load/api-client.ts';
import { createProject, createTemplate, createWorkflow, type LoadProject } from './load/projects.ts';
import { createLoopDelayEnvironment, type LoopDelay, readLoopDelay } from './loop-delay.ts';

/** A tenant of the bench, with its API client, template and event. */
export interface LoadTenant extends LoadProject {
  client: ApiClient;
  templateId: string;
  /** The name of an event that starts an execution with one email. */
  eventName: string;
}

/**
 * CPU time in ms of the processes that take part, and of all other work on the machine, which affects latencies too.
 */
export type Cpu = Record<'api' | 'workers' | 'postgres' | 'temporal' | 'sink' | 'bench' | 'others', number>;

/** A running service with two tenants, and the sink that receives its email. */
export interface TenantStage {
  baseUrl: string;
  temporal: { address: string; namespace: string };
  a: LoadTenant;
  b: LoadTenant;
  db: Db;
  sink: SinkProcess;
  cpu(): Cpu;
  /** Returns the delay of the event loops of the API and of the workers since that time. */
  loops(sinceMs: number): Record<'api' | 'worker', LoopDelay>;
  close(): Promise<void>;
}

/** Starts the service as `npm start` does, with a sink in a separate process and without rate limits. */
export async function startTenantServers(p: { workers: string; env?: Record<string, string> }): Promise<TenantStage> {
  const home = createHomePath();
  const loops = mkdtempSync(join(tmpdir(), 'tidings-loops-'));
  const sink = await startSinkProcess(['--no-record', '--timed=t-']);
  const service = await startService({
    home,
    env: {
      WORKERS: p.workers,
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: sink.url,
      RATE_LIMIT_PER_MINUTE: '0',
      DKIM_SIGN: 'off',
      LOG_LEVEL: 'warn',
      ...createLoopDelayEnvironment(loops),
      ...p.env,
    },
  }).catch(async (error) => {
    await sink.stop();
    throw error;
  });
  const { baseUrl, databaseUrl, temporal, pids } = service.dev();
  const { db } = connect({ connectionString: databaseUrl, max: 2, applicationName: 'bench', onError: () => {} });
  const tenant = async (name: string): Promise<LoadTenant> => {
    const project = await createProject(db, name);
    const client = createApiClient({ baseUrl, key: project.secretKey });
    const templateId = await createTemplate(client, project.domain);
    const eventName = `${name.toLowerCase()}-one`;
    await createWorkflow(client, eventName, [
      ['SEND_EMAIL', { templateId }],
      ['EXIT', {}],
    ]);
    return { ...project, client, templateId, eventName };
  };
  const [a, b] = [await tenant('A'), await tenant('B')];
  return {
    baseUrl,
    temporal,
    a,
    b,
    db,
    sink,
    cpu: () => {
      const ours = {
        api: readCpuMs([pids.api]),
        workers: readCpuMs(pids.workers),
        postgres: readPostgresCpuMs(pids.postgres),
        temporal: readCpuMs(pids.temporal === null ? [] : [pids.temporal]),
        sink: readCpuMs([sink.pid]),
        bench: readCpuMs([process.pid]),
      };
      return { ...ours, others: readMachineCpuMs() - Object.values(ours).reduce((sum, ms) => sum + ms, 0) };
    },
    loops: (sinceMs) => ({
      api: readLoopDelay(loops, [pids.api], sinceMs),
      worker: readLoopDelay(loops, pids.workers, sinceMs),
    }),
    close: async () => {
      await Promise.all([a.client.close(), b.client.close(), db.destroy()]);
      service.signal('SIGTERM');
      await service.exited;
      await sink.stop();
      await removeHome(home);
      rmSync(loops, { recursive: true, force: true });
    },
  };
}
