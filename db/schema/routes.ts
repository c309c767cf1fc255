import type { Generated } from 'kysely';
import type { RefusalStage } from '../../rules/emails/refusal.ts';
import type { GeneratedTimestamp } from './columns.ts';

/** Ways out for email, and whether they take it. */
export interface RoutesTables {
  route_pauses: RoutePausesTable;
  sns_subscriptions: SnsSubscriptionsTable;
}

/** When each kind of message of an SNS topic came last. */
export interface SnsSubscriptionsTable {
  topic: string;
  confirmed_at: Date | null;
  notified_at: Date | null;
  /** A notification without its envelope came: raw message delivery is on. */
  refused_at: Date | null;
}

export interface RoutePausesTable {
  id: Generated<string>;
  /** Stands for a provider with its settings: changed settings are another route. */
  route: string;
  /** Null is all projects. */
  project_id: string | null;
  /** Stands for the refusal: equal where a server says the same. */
  refusal: string;
  stage: RefusalStage;
  /** The server's reply, without addresses. */
  reply: string;
  /** The domain of the envelope sender that was refused. */
  sender_host: string;
  /** One of the emails that were refused, whose recipient a probe asks for. */
  email_id: string | null;
  since: GeneratedTimestamp;
  probes: Generated<number>;
  next_probe_at: Date;
}
