import type { Selectable } from 'kysely';
import type { AssetsTables } from './assets.ts';
import type { CampaignsTables } from './campaigns.ts';
import type { ContactsTables } from './contacts.ts';
import type { ContentsTables } from './contents.ts';
import type { DomainsTables } from './domains.ts';
import type { EmailsTables } from './emails.ts';
import type { EventsTables } from './events.ts';
import type { ExecutionsTables } from './executions.ts';
import type { InstallationTables } from './installation.ts';
import type { OperationTables } from './operation.ts';
import type { ProjectsTables } from './projects.ts';
import type { RecoveryTables } from './recovery.ts';
import type { RequestsTables } from './requests.ts';
import type { RoutesTables } from './routes.ts';
import type { SegmentsTables } from './segments.ts';
import type { SmsTables } from './sms.ts';
import type { StorefrontTables } from './storefront.ts';
import type { TopicsTables } from './topics.ts';
import type { WebhooksTables } from './webhooks.ts';

/**
 * The tables that the migrations create, with one file per subject. The comments in `db/migrations/` give the reasons
 * for each table. Types of rows are derived from these types with `RowOf`. A text column with a fixed set of values has
 * a union type. `bigint` is read as a number (see db/connection.ts).
 */
export interface Database
  extends ProjectsTables,
    ContactsTables,
    TopicsTables,
    SegmentsTables,
    DomainsTables,
    ContentsTables,
    AssetsTables,
    EmailsTables,
    SmsTables,
    EventsTables,
    CampaignsTables,
    ExecutionsTables,
    WebhooksTables,
    RequestsTables,
    RoutesTables,
    StorefrontTables,
    RecoveryTables,
    OperationTables,
    InstallationTables {}

/** The type of a row that a query reads if it selects these columns of the table. */
export type RowOf<Table extends keyof Database, Columns extends readonly (keyof Selectable<Database[Table]>)[]> = Pick<
  Selectable<Database[Table]>,
  Columns[number]
>;
