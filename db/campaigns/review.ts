import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { CampaignRecipientTiming } from '../../rules/campaigns/gate.ts';
import type { FoundRecords } from '../../rules/domains/sender-domain.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import { toCanonicalZone, ZONE_PATTERN } from '../../rules/time/zones.ts';
import type { Db } from '../connection.ts';
import type { Reader } from '../contacts/readers.ts';
import { countMonthEmailsSql } from '../sending/monthly-usage.ts';
import { audiencePredicate } from './audience.ts';
import type { Campaign } from './campaigns.ts';
import { EFFECTIVE_WINDOW } from './chunk-clock.ts';
import { withheldReasonSql } from './withheld.ts';

/** A preview of the audience of a campaign. A preview claims and reserves nothing. */
export interface AudienceReview {
  audience: number;
  /** Contacts who are subscribed and not suppressed. The topic and the frequency cap are not considered. */
  willSend: number;
  /** Number of skipped contacts by reason. */
  skipped: Record<string, number>;
  /** Number of recipients whose data has no value for a variable, by variable. */
  missing: Record<string, number>;
}

/** The state of a project and its sender domains for a campaign that would be sent now. */
export interface SendingState {
  held: boolean;
  /** The project's limit of emails per second. */
  sendRate: number | null;
  /** Number of emails that the monthly limit still allows. Null without a limit. */
  remainingMonthlyQuota: number | null;
  /** The state of the sender domain, by sender address. Null if the project does not have the domain. */
  domains: Map<string, { verified: boolean; dmarc: boolean } | null>;
  /** Settings for the local time of the recipients. */
  clock: Pick<CampaignRecipientTiming, 'projectZone' | 'window'>;
}

type Request = { projectId: string; campaign: Campaign };

/** Counts the audience in one query over its contacts. If the segment or filter was deleted, the audience is empty. */
export async function reviewAudience(
  db: Db,
  p: Request & { pads: KeyPads; variables: readonly string[] },
): Promise<AudienceReview> {
  const { projectId, pads, variables } = p;
  const predicate = await audiencePredicateOf(db, p);
  const refused = withheldReasonSql({
    projectId,
    pads,
    subscribed: sql`contacts.subscribed`,
    email: sql`contacts.email`,
  });
  const lacking = variables.map(
    (path, n) =>
      sql`count(*) FILTER (WHERE coalesce(data #>> ${path.split('.')}::text[], '') = '') AS ${sql.ref(`m${n}`)}`,
  );
  const { rows } = await sql<{ [missing: `m${number}`]: number; reason: string | null; contacts: number }>`
    SELECT ${sql.join([sql`reason, count(*) AS contacts`, ...lacking])}
    FROM (SELECT contacts.data, ${refused} AS reason FROM contacts WHERE ${predicate}) c GROUP BY reason
  `.execute(db);
  const open = rows.find((row) => row.reason === null);
  return {
    audience: rows.reduce((sum, row) => sum + row.contacts, 0),
    willSend: open?.contacts ?? 0,
    skipped: Object.fromEntries(rows.flatMap(({ reason, contacts }) => (reason === null ? [] : [[reason, contacts]]))),
    missing: Object.fromEntries(variables.map((path, n) => [path, open?.[`m${n}`] ?? 0])),
  };
}

/** Returns one subscribed contact of the audience. Undefined if the audience has none. */
export async function findSampleContact(db: Db, p: Request): Promise<Reader | undefined> {
  const { rows } = await sql<Reader>`
    SELECT id, email, data, untrusted_keys AS "untrustedKeys" FROM contacts WHERE ${await audiencePredicateOf(db, p)} AND subscribed LIMIT 1
  `.execute(db);
  return rows[0];
}

/**
 * Reads the state that decides whether and how fast a campaign could be sent now. In `mode` test, no hold and no limit
 * applies.
 * @param p.senders the sender addresses of the campaign
 */
export async function readSendingState(
  db: Db,
  p: Request & { mode: KeyMode; senders: readonly string[] },
): Promise<SendingState> {
  const { rows } = await sql<{
    held: boolean;
    rate: number | null;
    room: number | null;
    timezone: string;
    window: SendingWindow | null;
  }>`
    SELECT p.effective_held_at IS NOT NULL AS held, p.effective_send_rate_per_second AS rate,
      CASE WHEN p.effective_monthly_email_limit IS NOT NULL
        THEN p.effective_monthly_email_limit - coalesce(m.emails, ${countMonthEmailsSql(p.projectId)}) END AS room, p.timezone, ${EFFECTIVE_WINDOW} AS window
    FROM campaigns k JOIN projects p ON p.id = k.project_id
    LEFT JOIN monthly_usage m ON m.project_id = p.id AND m.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
      AND p.effective_monthly_email_limit IS NOT NULL
    WHERE k.project_id = ${p.projectId} AND k.id = ${p.campaign.id}
  `.execute(db);
  const [row] = rows;
  if (!row) throw new AppError('NOT_FOUND');
  const limited = p.mode === 'live';
  return {
    held: limited && row.held,
    sendRate: limited ? row.rate : null,
    remainingMonthlyQuota: limited && row.room !== null ? Math.max(0, row.room) : null,
    domains: await findSenderDomains(db, p),
    clock: { projectZone: row.timezone, window: row.window },
  };
}

async function findSenderDomains(
  db: Db,
  p: { projectId: string; senders: readonly string[] },
): Promise<SendingState['domains']> {
  const { rows } = await sql<{ sender: string; status: string | null; found: FoundRecords | null }>`
    SELECT s.sender, d.status, d.found FROM unnest(${p.senders}::text[]) AS s (sender)
    LEFT JOIN domains d ON d.project_id = ${p.projectId} AND d.domain = lower(substring(s.sender FROM '@([^@]*)$'))
  `.execute(db);
  return new Map(
    rows.map(({ sender, status, found }) => [
      sender,
      status === null ? null : { verified: status === 'VERIFIED', dmarc: found?.DMARC === true },
    ]),
  );
}

/**
 * The maximum number of zone names for which contacts are counted: the most frequent names in the audience's data.
 * Contacts with other names are not counted.
 */
const ZONES_MAX = 2_000;

/**
 * Counts the subscribed contacts of an audience by the zone in their data. A null zone means contacts without a valid
 * zone, which use the project's zone. Several entries may have the same zone.
 */
export async function countContactsByZone(db: Db, p: Request): Promise<{ zone: string | null; contacts: number }[]> {
  const { rows } = await sql<{ name: string | null; contacts: number }>`
    SELECT CASE WHEN name ~ ${ZONE_PATTERN} THEN name END AS name, count(*) AS contacts
    FROM (SELECT contacts.data->>'timezone' AS name FROM contacts WHERE ${await audiencePredicateOf(db, p)} AND subscribed) c
    GROUP BY 1 ORDER BY 2 DESC LIMIT ${ZONES_MAX}
  `.execute(db);
  return rows.map(({ name, contacts }) => ({ zone: name === null ? null : (toCanonicalZone(name) ?? null), contacts }));
}

async function audiencePredicateOf(db: Db, { projectId, campaign }: Request): Promise<RawBuilder<SqlBool>> {
  const { audienceType: type, segmentId, audienceFilter: filter } = campaign;
  try {
    return await audiencePredicate(db, { projectId, type, segmentId, filter });
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') return sql<SqlBool>`false`;
    throw error;
  }
}
