import { sql } from 'kysely';
import type { Db } from '../../../db/connection.ts';
import { buildAges } from '../../build/dashboard/ages.ts';
import { buildCampaigns, buildHealthyCampaigns, type SeededCampaigns } from '../../build/dashboard/campaigns.ts';
import {
  buildContacts,
  buildJobs,
  buildSegmentsAndTopics,
  type SeededContact,
} from '../../build/dashboard/contacts.ts';
import { buildKeysAndUsers, buildRequestLog, buildWebhooks } from '../../build/dashboard/developers.ts';
import { buildEmailHours, buildTimers } from '../../build/dashboard/email-hours.ts';
import { buildEmails, buildSms, buildTemplates, buildTrackedEvents } from '../../build/dashboard/emails.ts';
import { buildHealthyWorkflow, buildWorkflows, type SeededWorkflows } from '../../build/dashboard/executions.ts';
import { buildImages } from '../../build/dashboard/pictures.ts';
import { HOSTILE, PLAIN, type Voice } from '../../build/dashboard/voice.ts';
import { getDaysAgo, getTimeHoursAgo, type World } from '../../build/dashboard/world.ts';
import { buildDomain } from '../../build/senders.ts';
import { buildProject, type TestProject } from '../api.ts';
import type { CallOptions, CallResult } from '../http.ts';

/** The DNS values of a domain that is not verified. Its SPF record names another server. */
const PENDING_SEEN = { DKIM: ['v=DKIM1'], SPF: ['v=spf1 include:oldhost.example ~all'], DMARC: [] };

/** Enough for two pages of every list, and for every result of a campaign's recipients. */
const CONTACTS = 160;
/** Enough for the rates and reasons of a campaign's report to look as in a real project. */
const MANY_CONTACTS = 1_600;

/** A project with records of all types, and the ids for paths of the dashboard. */
export interface DashboardData {
  project: TestProject;
  /** The contacts, newest first, as the list of contacts shows them. */
  contacts: SeededContact[];
  /** Four segments: dynamic with tracked membership, dynamic, dynamic without a member, and static. */
  segmentIds: string[];
  topicIds: string[];
  /** Five templates: welcome, news, abandoned basket, receipt, and one without a sender. */
  templateIds: string[];
  /** Campaigns by status. `TESTED` was sent with two variants. */
  campaigns: SeededCampaigns;
  workflows: SeededWorkflows;
  /** Single emails, newest first. */
  emailIds: string[];
  /** Three endpoints, with the statuses ACTIVE, DEGRADED and DISABLED. */
  webhookIds: string[];
  /** Four jobs: a completed import, a running import, a failed import, and a completed bulk job. */
  jobIds: string[];
  domainId: string;
  /** Three requests of the log: the first sent emails, the second started an execution, the third was refused. */
  requestIds: string[];
  smsIds: string[];
  /** Tracked events; `signup` is the first. */
  eventNames: string[];
}

/** A service whose database the builders can access: `startTestService()`. */
interface Seeded {
  db: Db;
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
}

/**
 * Builds a project in which nothing needs attention: a verified domain, contacts, lists, templates, campaigns, an
 * enabled automation, and the emails of 60 days. The README's first image shows the home screen of this project.
 */
export async function buildHealthyProject(service: Seeded): Promise<TestProject> {
  const { project, world } = await createProjectContext(service, { name: 'Northwind Tea', voice: PLAIN });
  const { db, projectId } = world;
  await buildDomain(db, { projectId, domain: 'shop.example.com' });
  const contacts = await buildContacts(world, CONTACTS);
  const { topicIds } = await buildSegmentsAndTopics(world, contacts);
  const templateIds = await buildTemplates(world, topicIds[0] ?? '');
  await buildHealthyCampaigns(world, contacts);
  await buildHealthyWorkflow(world, { contacts: contacts.slice(0, 60), templateIds });
  await buildEmailHours(world);
  await buildTrackedEvents(world, contacts, 300);
  await buildTimers(world);
  await buildAges(world);
  return project;
}

async function createProjectContext({ db, call }: Seeded, { name, voice }: { name: string; voice: Voice }) {
  const project = await buildProject(db, name);
  await db
    .updateTable('projects')
    .set({ created_at: getDaysAgo(400) })
    .where('id', '=', project.id)
    .execute();
  const world: World = {
    db,
    voice,
    projectId: project.id,
    call: (method, path, options) => call(method, path, { key: project.secretKey, ...options }),
  };
  return { project, world };
}

/** Gives the keys of a new project the names of a shop's programs, which the list of keys and the request log show. */
async function nameKeys(db: Db, projectId: string): Promise<void> {
  const name = sql<string>`CASE WHEN mode = 'test' THEN 'Staging' WHEN cardinality(scopes) = 0 THEN 'Newsletter form'
    ELSE 'Shop backend' END`;
  await db
    .updateTable('api_keys')
    .set({ name, created_at: getDaysAgo(200), last_used_at: getTimeHoursAgo(1) })
    .where('project_id', '=', projectId)
    .execute();
}

/**
 * Builds a new project with records of every kind in every state: through the API if that is cheap, else by SQL. No
 * worker runs, so started work keeps its state. With `hostile`, every name, subject, event and value contains markup or
 * scripts that attack the screens.
 */
export async function buildDashboardData(service: Seeded, { hostile = false } = {}): Promise<DashboardData> {
  const { db } = service;
  const voice = hostile ? HOSTILE : PLAIN;
  const { project, world } = await createProjectContext(service, { name: voice.say('The Tea Shop', 0, 100), voice });
  await nameKeys(db, project.id);
  const { id: domainId } = await buildDomain(db, { projectId: project.id, domain: 'shop.example.com' });
  await db
    .updateTable('domains')
    .set({ found: JSON.stringify({ DKIM: true, SPF: true, DMARC: true, RETURN_PATH: true, INBOUND: true }) })
    .where('id', '=', domainId)
    .execute();
  const pending = await buildDomain(db, { projectId: project.id, domain: 'new.example.com', status: 'PENDING' });
  await db
    .updateTable('domains')
    .set({ found: JSON.stringify({ DKIM: true, RETURN_PATH: true }), seen: JSON.stringify(PENDING_SEEN) })
    .where('id', '=', pending.id)
    .execute();
  const broken = await buildDomain(db, { projectId: project.id, domain: 'broken.example.com', status: 'FAILED' });
  await db
    .updateTable('domains')
    .set({ updated_at: getDaysAgo(2) })
    .where('id', '=', broken.id)
    .execute();
  await db
    .insertInto('sms_senders')
    .values({ project_id: project.id, country: null, from_phone: '+15005550006' })
    .execute();
  const contacts = await buildContacts(world, hostile ? CONTACTS : MANY_CONTACTS);
  const { segmentIds, topicIds } = await buildSegmentsAndTopics(world, contacts);
  const templateIds = await buildTemplates(world, topicIds[0] ?? '');
  await buildImages(world);
  const segmentId = segmentIds[0] ?? '';
  const campaigns = await buildCampaigns(world, { contacts, segmentId, topicId: topicIds[0] ?? '' });
  const workflows = await buildWorkflows(world, { contacts: contacts.slice(0, 60), templateIds });
  const emailIds = await buildEmails(world, contacts, 70);
  await buildEmailHours(world, 0.7);
  const tracked = await buildTrackedEvents(world, contacts, 300);
  const smsIds = await buildSms(world, contacts);
  const jobIds = await buildJobs(world);
  const webhookIds = await buildWebhooks(world);
  await buildKeysAndUsers(world);
  await buildAges(world);
  const requestIds = await buildRequestLog(world, { emails: emailIds.slice(0, 3), events: [tracked.firstId] });
  return {
    project,
    contacts,
    segmentIds,
    topicIds,
    templateIds,
    campaigns,
    workflows,
    emailIds,
    webhookIds,
    jobIds,
    domainId,
    requestIds,
    smsIds,
    eventNames: tracked.names,
  };
}
