import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Deps } from '../http/deps.ts';
import type { App, AppEnv } from '../http/env.ts';
import type { UnauthenticatedRoutes } from '../http/registrar.ts';
import type { RouteTable } from '../http/route-table.ts';
import { activityRoutes } from './activity/routes.ts';
import { analyticsOverviewRoutes } from './analytics/overview.ts';
import { analyticsRoutes } from './analytics/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { asCodeRoutes } from './as-code/routes.ts';
import { assetRoutes } from './assets/routes.ts';
import { assetServingRoutes } from './assets/serving.ts';
import { auditLogRoutes } from './audit-log/routes.ts';
import { invitationRoutes } from './auth/invitations.ts';
import { authRoutes } from './auth/routes.ts';
import { signInLinkRoutes } from './auth/sign-in-link.ts';
import { campaignLinkRoutes } from './campaigns/links.ts';
import { campaignRecipientRoutes } from './campaigns/recipients.ts';
import { campaignRetryRoutes } from './campaigns/retry.ts';
import { campaignReviewRoutes } from './campaigns/review.ts';
import { campaignRoutes } from './campaigns/routes.ts';
import { campaignSendingRoutes } from './campaigns/sending.ts';
import { contactFieldRoutes } from './contact-fields/routes.ts';
import { importPreviewRoutes } from './contact-jobs/preview.ts';
import { contactJobRoutes } from './contact-jobs/routes.ts';
import { contactDataRoutes } from './contacts/contact-export.ts';
import { contactStateRoutes } from './contacts/contact-state.ts';
import { contactExportRoutes } from './contacts/export.ts';
import { contactRoutes } from './contacts/routes.ts';
import { contactTimelineRoutes } from './contacts/timeline.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import { docsRoutes } from './docs/routes.ts';
import { domainRoutes } from './domains/routes.ts';
import { emailAttachmentRoutes } from './emails/attachments.ts';
import { emailResendRoutes } from './emails/resend.ts';
import { emailRoutes } from './emails/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { executionMoveRoutes } from './executions/moves.ts';
import { executionRoutes } from './executions/routes.ts';
import { fontRoutes } from './fonts/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { mailboxRoutes } from './mailbox/routes.ts';
import { operatorHealthRoutes } from './operator/health.ts';
import { operatorProviderRoutes } from './operator/providers.ts';
import { operatorRoutePauseRoutes } from './operator/route-pauses.ts';
import { operatorSendingRoutes } from './operator/sending.ts';
import { operatorTenantRoutes } from './operator/tenants.ts';
import { pageRoutes } from './pages/routes.ts';
import { projectRoutes } from './project/routes.ts';
import { providerCallbackRoutes } from './provider-callbacks/routes.ts';
import { requestRoutes } from './requests/routes.ts';
import { segmentReadRoutes } from './segments/read-routes.ts';
import { segmentRoutes } from './segments/routes.ts';
import { sendRoutes } from './send/routes.ts';
import { smsRoutes } from './sms/routes.ts';
import { smsSenderRoutes } from './sms-senders/routes.ts';
import { smsStopRoutes } from './sms-stops/routes.ts';
import { storefrontRoutes } from './storefront/routes.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { teamRoutes } from './team/routes.ts';
import { templatePreviewRoutes } from './templates/preview.ts';
import { templateRoutes } from './templates/routes.ts';
import { templateTestRoutes } from './templates/test-email.ts';
import { topicRoutes } from './topics/routes.ts';
import { trackRoutes } from './track/routes.ts';
import { trackingRoutes } from './tracking/routes.ts';
import { verifyRoutes } from './verify/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { workflowGraphRoutes } from './workflow-graph/routes.ts';
import { workflowPreviewRoutes } from './workflow-preview/routes.ts';
import { workflowStatsRoutes } from './workflow-stats/routes.ts';
import { workflowStepRoutes } from './workflow-steps/routes.ts';
import { workflowRoutes } from './workflows/routes.ts';

export interface Registrars {
  /** Registers operations at `/x` and at `/v1/x`; their routes name `/x`. */
  both: App;
  /** Registers operations at the path of their route only. */
  only: App;
  /**
   * Registers pages, pixels and callbacks. They need no credentials and have no guard. Writes are limited by the
   * caller's address.
   */
  unauthenticated: UnauthenticatedRoutes;
  /** For read-only files and pages. Add their paths to `table`. */
  hono: OpenAPIHono<AppEnv>;
  table: RouteTable;
}

/** Registers every route of the service, in the order of the API guide. */
export function registerRoutes({ both, only, unauthenticated, hono, table }: Registrars, deps: Deps): void {
  // Resources of the dashboard, at both paths.
  workflowRoutes(both, deps);
  workflowStepRoutes(both, deps);
  workflowGraphRoutes(both, deps);
  executionRoutes(both, deps);
  executionMoveRoutes(both, deps);
  workflowPreviewRoutes(both, deps);
  workflowStatsRoutes(both, deps);
  eventRoutes(both, deps);
  activityRoutes(both, deps);
  analyticsRoutes(both, deps);
  analyticsOverviewRoutes(both, deps);
  contactFieldRoutes(both, deps);
  contactJobRoutes(both, deps);
  importPreviewRoutes(both, deps);
  // Must precede `/contacts/{id}`, because `export` is not an id.
  contactExportRoutes(both, deps);
  contactRoutes(both, deps);
  contactTimelineRoutes(both, deps);
  contactStateRoutes(both, deps);
  contactDataRoutes(both, deps);
  suppressionRoutes(both, deps);
  // Must precede `/v1/sms/{id}`, because `stops` is not an id.
  smsStopRoutes(only, deps);
  topicRoutes(both, deps);
  templateRoutes(both, deps);
  templatePreviewRoutes(both, deps);
  templateTestRoutes(both, deps);
  assetRoutes(both, deps);
  domainRoutes(both, deps);
  verifyRoutes(only, deps);
  segmentReadRoutes(both, deps);
  segmentRoutes(both, deps);
  campaignRoutes(both, deps);
  campaignRecipientRoutes(both, deps);
  campaignLinkRoutes(both, deps);
  campaignSendingRoutes(both, deps);
  campaignRetryRoutes(both, deps);
  campaignReviewRoutes(both, deps);
  webhookRoutes(both, deps);
  requestRoutes(both, deps);
  // Public endpoints, only under /v1.
  sendRoutes(only, deps);
  emailRoutes(only, deps);
  emailAttachmentRoutes(only, deps);
  emailResendRoutes(only, deps);
  smsRoutes(only, deps);
  smsSenderRoutes(only, deps);
  trackRoutes(only, deps);
  storefrontRoutes(only, deps);
  // Users, keys and the project: by session, at one path.
  authRoutes(only, deps);
  signInLinkRoutes(unauthenticated, deps);
  invitationRoutes(only, deps);
  teamRoutes(only, deps);
  apiKeyRoutes(only, deps);
  projectRoutes(only, deps);
  asCodeRoutes(only, deps);
  auditLogRoutes(only, deps);
  // Operations on the installation, for the users in OPERATORS.
  operatorHealthRoutes(only, deps);
  operatorTenantRoutes(only, deps);
  operatorProviderRoutes(only, deps);
  operatorRoutePauseRoutes(only, deps);
  operatorSendingRoutes(only, deps);
  // The service itself.
  healthRoutes(only, deps);
  docsRoutes(hono, table);
  fontRoutes(hono, table);
  dashboardRoutes(hono, table, deps);
  mailboxRoutes(hono, table, deps);
  providerCallbackRoutes(hono, unauthenticated, deps);
  trackingRoutes(unauthenticated, deps);
  pageRoutes(unauthenticated, deps);
  assetServingRoutes(unauthenticated, deps);
}
