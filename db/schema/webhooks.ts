import type { Generated } from 'kysely';
import type { GeneratedTimestamp, Json, NullableTimestamp } from './columns.ts';

export type EndpointStatus = 'ACTIVE' | 'DEGRADED' | 'DISABLED';
export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED';

/** Webhook endpoints of tenants, and the deliveries to them. */
export interface WebhooksTables {
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
}

export interface WebhookEndpointsTable {
  id: Generated<string>;
  project_id: string;
  /** The URL with `***` instead of its password. */
  url: string;
  /** The encrypted password of the URL. */
  url_secret: string | null;
  events: string[];
  description: string | null;
  status: Generated<EndpointStatus>;
  secret: string;
  previous_secret: string | null;
  previous_until: NullableTimestamp;
  failures_in_row: Generated<number>;
  failing_since: NullableTimestamp;
  disabled_reason: string | null;
  /** Number of the current turn. A turn with a lower number can record nothing. */
  turn: Generated<number>;
  /** The endpoint's Temporal workflow wakes at this time, so new events need not wake it before. */
  wakes_at: NullableTimestamp;
  /** When the next probe of a degraded endpoint is due. */
  probe_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface WebhookDeliveriesTable {
  id: Generated<string>;
  project_id: string;
  endpoint_id: string;
  event_id: string;
  event_name: string;
  payload: Json;
  status: Generated<DeliveryStatus>;
  attempts: Generated<number>;
  response_status: number | null;
  response_body: string | null;
  latency_ms: number | null;
  error: string | null;
  /** When the next attempt is due. Null unless the delivery is PENDING. */
  next_attempt_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  completed_at: NullableTimestamp;
}
