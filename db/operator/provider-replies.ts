import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { firstIdAtSql } from '../id-time.ts';

/** Maximum number of emails that are read, newest first. The maximum limits the cost of the query. */
const MAX_EMAILS_READ = 200_000;
const CODES_SHOWN = 50;
const DOMAINS_SHOWN = 5;

/** A reply code of providers, and the emails of all projects that got this reply. */
export interface ProviderReply {
  /**
   * The SMTP code with its enhanced code (`550 5.1.1`) or the name of an SES error. If a reply has neither, its first
   * 40 characters.
   */
  code: string;
  mails: number;
  projects: number;
  /**
   * `failed`, `bounced` and `waiting`: the number of these emails by their current state. `waiting` emails get another
   * attempt.
   */
  failed: number;
  bounced: number;
  waiting: number;
  /** When the newest of these emails was accepted. */
  newestAt: Date;
  /** The reply to that email, in full. */
  example: string;
  /** The recipients' domains, the most frequent first. */
  domains: { domain: string; mails: number }[];
}

export interface ProviderResponses {
  /**
   * Number of live emails that were read. `since` is the time when the oldest of them was accepted; null if there were
   * no emails.
   */
  looked: number;
  since: Date | null;
  answers: ProviderReply[];
}

/**
 * Lists providers' replies to live emails that were accepted within the last `hours`, the most frequent reply first, at
 * most 50. Reads only the newest 200,000 emails. Only the last reply to each email is stored.
 */
export async function listProviderReplies(db: Db, { hours }: { hours: number }): Promise<ProviderResponses> {
  const since = firstIdAtSql(sql`(now() - make_interval(hours => ${hours}))`);
  const { rows } = await sql<{
    looked: number;
    since: Date | null;
    answers: (Omit<ProviderReply, 'newestAt'> & { newestAt: string })[];
  }>`
    WITH looked AS MATERIALIZED (
      SELECT id, project_id, contact_id, to_email, status, error, created_at FROM emails
      WHERE id >= ${since} AND mode = 'live' AND NOT simulated AND source_type <> 'INBOUND' ORDER BY id DESC LIMIT ${MAX_EMAILS_READ}),
    replies AS MATERIALIZED (
      SELECT coalesce(substring(l.error FROM '^[2-5][0-9]{2}(?: [2-5]\\.[0-9]{1,3}\\.[0-9]{1,3})?'),
          substring(l.error FROM '^([A-Za-z]+): '), left(l.error, 40)) AS code,
        l.project_id, l.status, l.error, l.created_at, l.id,
        coalesce(lower(substring(coalesce(l.to_email, c.email) FROM '@([^@]*)$')), '') AS domain
      FROM looked l LEFT JOIN contacts c ON c.id = l.contact_id AND c.project_id = l.project_id WHERE l.error IS NOT NULL),
    domains AS (
      SELECT code, jsonb_agg(jsonb_build_object('domain', domain, 'mails', mails) ORDER BY mails DESC, domain) AS domains
      FROM (SELECT code, domain, count(*) AS mails, row_number() OVER (PARTITION BY code ORDER BY count(*) DESC, domain) AS place
        FROM replies WHERE domain <> '' GROUP BY code, domain) d
      WHERE place <= ${DOMAINS_SHOWN} GROUP BY code),
    codes AS (
      SELECT code, count(*) AS mails, count(DISTINCT project_id) AS projects, count(*) FILTER (WHERE status = 'FAILED') AS failed,
        count(*) FILTER (WHERE status = 'BOUNCED') AS bounced, count(*) FILTER (WHERE status IN ('PENDING', 'SENDING')) AS waiting,
        max(created_at) AS "newestAt", (array_agg(error ORDER BY id DESC))[1] AS example
      FROM replies GROUP BY code ORDER BY count(*) DESC, code LIMIT ${CODES_SHOWN})
    SELECT (SELECT count(*) FROM looked) AS looked, (SELECT min(created_at) FROM looked) AS since,
      (SELECT coalesce(jsonb_agg(to_jsonb(codes) || jsonb_build_object('domains', coalesce(domains.domains, '[]'))
        ORDER BY codes.mails DESC, codes.code), '[]') FROM codes LEFT JOIN domains USING (code)) AS answers
  `.execute(db);
  const [row] = rows;
  const answers = (row?.answers ?? []).map((answer) => ({ ...answer, newestAt: new Date(answer.newestAt) }));
  return { looked: row?.looked ?? 0, since: row?.since ?? null, answers };
}
