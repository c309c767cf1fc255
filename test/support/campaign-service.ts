import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { buildProject, type CallResult, type TestProject } from './api.ts';
import { connectOperator, type TestOperator } from './operator.ts';
import { startTestService, type TestService } from './service.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from './smtp/smtp-sink.ts';
import { until } from './until.ts';

/** A service that sends campaigns to an SMTP sink. Its calls use the project of the current test. */
export interface CampaignService {
  readonly service: TestService;
  readonly operator: TestOperator;
  readonly sink: SmtpSink;
  /** A new project for each test, with the sender domain `sender.test`. */
  readonly project: TestProject;
  /**
   * Milliseconds by which the sink delays each packet, so that a test can check a running campaign. It is set to 0
   * before each test.
   */
  pauseMs: number;
  /** Calls the API as the test's project. */
  call(method: string, path: string, body?: unknown): Promise<CallResult>;
  /** Creates a draft and returns its id. */
  create(changes?: Record<string, unknown>): Promise<string>;
  send(id: string, body?: Record<string, unknown>): Promise<void>;
  read(id: string): Promise<CallResult['body']>;
  /** Waits until the campaign is in this status, and returns the campaign. */
  waitForStatus(id: string, status: string): Promise<CallResult['body']>;
  /** Returns the number of recipients by status and reason. */
  countOutcomes(id: string): Promise<Record<string, number>>;
}

/** Starts a service for the tests of a file. The service is stopped after the last test. */
export function useCampaignService(
  p: { env?: Record<string, string>; sink?: Omit<SmtpSinkOptions, 'pauseMs'> } = {},
): CampaignService {
  let service: TestService;
  let operator: TestOperator;
  let sink: SmtpSink;
  let project: TestProject;

  beforeAll(async () => {
    sink = await startSmtpSink({ ...p.sink, pauseMs: () => campaigns.pauseMs });
    service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, ...p.env });
    operator = await connectOperator(service);
  });
  beforeEach(async () => {
    campaigns.pauseMs = 0;
    sink.reset();
    project = await buildProject(service.db, 'Campaigns');
    await buildDomain(service.db, { projectId: project.id, domain: 'sender.test', signing: false });
  });
  afterAll(async () => {
    await operator?.close();
    await service?.close();
    await sink?.close();
  });

  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { key: project.secretKey, body });
  const read = (id: string) => expectOk(call('GET', `/campaigns/${id}`));
  const campaigns: CampaignService = {
    get service() {
      return service;
    },
    get operator() {
      return operator;
    },
    get sink() {
      return sink;
    },
    get project() {
      return project;
    },
    pauseMs: 0,
    call,
    create: async (changes) => (await expectOk(call('POST', '/campaigns', createCampaignBody(changes)))).data.id,
    send: (id, body = {}) => expectOk(call('POST', `/campaigns/${id}/send`, body)),
    read,
    waitForStatus: (id, status) =>
      until(async () => {
        const campaign = await read(id);
        return campaign.status === status && campaign;
      }, `campaign ${status}`),
    countOutcomes: async (id) => {
      const { rows } = await sql<{ what: string; n: number }>`
        SELECT status || coalesce(' ' || reason, '') AS what, count(*) AS n
        FROM emails WHERE campaign_id = ${id} GROUP BY 1
      `.execute(service.db);
      return Object.fromEntries(rows.map((row) => [row.what, row.n]));
    },
  };
  return campaigns;
}
