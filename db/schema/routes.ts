import type { Generated } from 'kysely';
import type { RefusalStage } from '../../rules/emails/refusal.ts';
import type { GeneratedTimestamp } from './columns.ts';

/** Routes for email, and whether they accept it. */
export interface RoutesTables {
  route_pauses: RoutePausesTable;
  sns_subscriptions: SnsSubscriptionsTable;
}

/** When each kind of message of an SNS topic last arrived. */
export interface SnsSubscriptionsTable {
  topic: string;
  confirmed_at: Date | null;
  notified_at: Date | null;
  /** When a notification last arrived without its envelope, because raw message delivery is on. */
  refused_at: Date | null;
}

export interface RoutePausesTable {
  id: Generated<string>;
  /** Identifies a provider with its settings. Changed settings are another route. */
  route: string;
  /** Null means all projects. */
  project_id: string | null;
  /** Identifies the refusal. Equal replies of a server have the same value. */
  refusal: string;
  stage: RefusalStage;
  /** The server's reply, without addresses. */
  reply: string;
  /** The domain of the envelope sender that was refused. */
  sender_host: string;
  /** One of the refused emails. A probe asks for its recipient. */
  email_id: string | null;
  since: GeneratedTimestamp;
  probes: Generated<number>;
  next_probe_at: Date;
}
