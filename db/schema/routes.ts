import type { Generated } from 'kysely';
import type { RefusalStage } from '../../rules/emails/refusal.ts';
import type { GeneratedTimestamp } from './columns.ts';

/** Tables about the routes of email, and whether these routes accept email now. */
export interface RoutesTables {
  route_pauses: RoutePausesTable;
  sns_subscriptions: SnsSubscriptionsTable;
}

/** When each kind of message from an SNS topic last arrived. */
export interface SnsSubscriptionsTable {
  topic: string;
  confirmed_at: Date | null;
  notified_at: Date | null;
  /**
   * When a notification last arrived without its envelope. The service cannot use such notifications, which SNS sends
   * if raw message delivery is on.
   */
  refused_at: Date | null;
}

export interface RoutePausesTable {
  id: Generated<string>;
  /** Identifies a provider with its settings. After a change of the settings, the route is a different one. */
  route: string;
  /** Null means all projects. */
  project_id: string | null;
  /** Identifies the kind of refusal. Replies of a server with the same text have the same value. */
  refusal: string;
  stage: RefusalStage;
  /** The server's reply, without addresses. */
  reply: string;
  /** The domain of the envelope sender that was refused. */
  sender_host: string;
  /** One of the refused emails. A probe asks the server whether it accepts email to this email's recipient. */
  email_id: string | null;
  since: GeneratedTimestamp;
  probes: Generated<number>;
  next_probe_at: Date;
}
