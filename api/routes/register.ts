import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Deps } from '../http/deps.ts';
import type { App, AppEnv } from '../http/env.ts';
import type { UnauthenticatedRoutes } from '../http/registrar.ts';
import type { RouteTable } from '../http/route-table.ts';
import { registerActivityRoutes } from './activity/routes.ts';
import { registerAnalyticsOverviewRoutes } from './analytics/overview.ts';
import { registerAnalyticsRoutes } from './analytics/routes.ts';
import { registerApiKeyRoutes } from './api-keys/routes.ts';
import { registerAsCodeRoutes } from './as-code/routes.ts';
import { registerAssetRoutes } from './assets/routes.ts';
import { registerAssetServingRoutes } from './assets/serving.ts';
import { registerAuditLogRoutes } from './audit-log/routes.ts';
import { registerInvitationRoutes } from './auth/invitations.ts';
import { registerAuthRoutes } from './auth/routes.ts';
import { registerSignInLinkRoutes } from './auth/sign-in-link.ts';
import { registerCampaignLinkRoutes } from './campaigns/links.ts';
import { registerCampaignRecipientRoutes } from './campaigns/recipients.ts';
import { registerCampaignRetryRoutes } from './campaigns/retry.ts';
import { registerCampaignReviewRoutes } from './campaigns/review.ts';
import { registerCampaignRoutes } from './campaigns/routes.ts';
import { registerCampaignSendingRoutes } from './campaigns/sending.ts';
import { registerContactFieldRoutes } from './contact-fields/routes.ts';
import { registerImportPreviewRoutes } from './contact-jobs/preview.ts';
import { registerContactJobRoutes } from './contact-jobs/routes.ts';
import { registerContactDataRoutes } from './contacts/contact-export.ts';
import { registerContactStateRoutes } from './contacts/contact-state.ts';
import { registerContactExportRoutes } from './contacts/export.ts';
import { registerContactRoutes } from './contacts/routes.ts';
import { registerContactTimelineRoutes } from './contacts/timeline.ts';
import { registerDashboardRoutes } from './dashboard/routes.ts';
import { registerDocsRoutes } from './docs/routes.ts';
import { registerDomainRoutes } from './domains/routes.ts';
import { registerEmailAttachmentRoutes } from './emails/attachments.ts';
import { registerEmailResendRoutes } from './emails/resend.ts';
import { registerEmailRoutes } from './emails/routes.ts';
import { registerEventRoutes } from './events/routes.ts';
import { registerExecutionMoveRoutes } from './executions/moves.ts';
import { registerExecutionRoutes } from './executions/routes.ts';
import { registerFontRoutes } from './fonts/routes.ts';
import { registerHealthRoutes } from './health/routes.ts';
import { registerMailboxRoutes } from './mailbox/routes.ts';
import { registerOperatorHealthRoutes } from './operator/health.ts';
import { registerOperatorProviderRoutes } from './operator/providers.ts';
import { registerOperatorRoutePauseRoutes } from './operator/route-pauses.ts';
import { registerOperatorSendingRoutes } from './operator/sending.ts';
import { registerOperatorTenantRoutes } from './operator/tenants.ts';
import { registerPageRoutes } from './pages/routes.ts';
import { registerProjectRoutes } from './project/routes.ts';
import { registerProviderCallbackRoutes } from './provider-callbacks/routes.ts';
import { registerRequestRoutes } from './requests/routes.ts';
import { registerSegmentReadRoutes } from './segments/read-routes.ts';
import { registerSegmentRoutes } from './segments/routes.ts';
import { registerSendRoutes } from './send/routes.ts';
import { registerSmsRoutes } from './sms/routes.ts';
import { registerSmsSenderRoutes } from './sms-senders/routes.ts';
import { registerSmsStopRoutes } from './sms-stops/routes.ts';
import { registerStorefrontRoutes } from './storefront/routes.ts';
import { registerSuppressionRoutes } from './suppressions/routes.ts';
import { registerTeamRoutes } from './team/routes.ts';
import { registerTemplatePreviewRoutes } from './templates/preview.ts';
import { registerTemplateRoutes } from './templates/routes.ts';
import { registerTemplateTestRoutes } from './templates/test-email.ts';
import { registerTopicRoutes } from './topics/routes.ts';
import { registerTrackRoutes } from './track/routes.ts';
import { registerTrackingRoutes } from './tracking/routes.ts';
import { registerVerifyRoutes } from './verify/routes.ts';
import { registerWebhookRoutes } from './webhooks/routes.ts';
import { registerWorkflowGraphRoutes } from './workflow-graph/routes.ts';
import { registerWorkflowPreviewRoutes } from './workflow-preview/routes.ts';
import { registerWorkflowStatsRoutes } from './workflow-stats/routes.ts';
import { registerWorkflowStepRoutes } from './workflow-steps/routes.ts';
import { registerWorkflowRoutes } from './workflows/routes.ts';

export interface Registrars {
  /** Registers an operation at two paths. For the path `/x` of a route, these are `/x` and `/v1/x`. */
  bothPaths: App;
  /** Registers an operation only at the path of its route. */
  onePath: App;
  /**
   * Registers pages, pixels and callbacks. They have no credentials and no request checks. Writes are limited by the
   * caller's address.
   */
  unauthenticated: UnauthenticatedRoutes;
  /** For read-only files and pages. Add their paths to `table`. */
  hono: OpenAPIHono<AppEnv>;
  table: RouteTable;
}

/**
 * Registers every route of the service. The order matters where a path also matches the pattern of another route.
 */
export function registerRoutes({ bothPaths, onePath, unauthenticated, hono, table }: Registrars, deps: Deps): void {
  // Resources of the dashboard, at both paths.
  registerWorkflowRoutes(bothPaths, deps);
  registerWorkflowStepRoutes(bothPaths, deps);
  registerWorkflowGraphRoutes(bothPaths, deps);
  registerExecutionRoutes(bothPaths, deps);
  registerExecutionMoveRoutes(bothPaths, deps);
  registerWorkflowPreviewRoutes(bothPaths, deps);
  registerWorkflowStatsRoutes(bothPaths, deps);
  registerEventRoutes(bothPaths, deps);
  registerActivityRoutes(bothPaths, deps);
  registerAnalyticsRoutes(bothPaths, deps);
  registerAnalyticsOverviewRoutes(bothPaths, deps);
  registerContactFieldRoutes(bothPaths, deps);
  registerContactJobRoutes(bothPaths, deps);
  registerImportPreviewRoutes(bothPaths, deps);
  // Must precede `/contacts/{id}`, because `export` is not an id.
  registerContactExportRoutes(bothPaths, deps);
  registerContactRoutes(bothPaths, deps);
  registerContactTimelineRoutes(bothPaths, deps);
  registerContactStateRoutes(bothPaths, deps);
  registerContactDataRoutes(bothPaths, deps);
  registerSuppressionRoutes(bothPaths, deps);
  // Must precede `/v1/sms/{id}`, because `stops` is not an id.
  registerSmsStopRoutes(onePath, deps);
  registerTopicRoutes(bothPaths, deps);
  registerTemplateRoutes(bothPaths, deps);
  registerTemplatePreviewRoutes(bothPaths, deps);
  registerTemplateTestRoutes(bothPaths, deps);
  registerAssetRoutes(bothPaths, deps);
  registerDomainRoutes(bothPaths, deps);
  registerVerifyRoutes(onePath, deps);
  registerSegmentReadRoutes(bothPaths, deps);
  registerSegmentRoutes(bothPaths, deps);
  registerCampaignRoutes(bothPaths, deps);
  registerCampaignRecipientRoutes(bothPaths, deps);
  registerCampaignLinkRoutes(bothPaths, deps);
  registerCampaignSendingRoutes(bothPaths, deps);
  registerCampaignRetryRoutes(bothPaths, deps);
  registerCampaignReviewRoutes(bothPaths, deps);
  registerWebhookRoutes(bothPaths, deps);
  registerRequestRoutes(bothPaths, deps);
  // Public endpoints, only under /v1.
  registerSendRoutes(onePath, deps);
  registerEmailRoutes(onePath, deps);
  registerEmailAttachmentRoutes(onePath, deps);
  registerEmailResendRoutes(onePath, deps);
  registerSmsRoutes(onePath, deps);
  registerSmsSenderRoutes(onePath, deps);
  registerTrackRoutes(onePath, deps);
  registerStorefrontRoutes(onePath, deps);
  // Users, keys and the project: by session, at one path.
  registerAuthRoutes(onePath, deps);
  registerSignInLinkRoutes(unauthenticated, deps);
  registerInvitationRoutes(onePath, deps);
  registerTeamRoutes(onePath, deps);
  registerApiKeyRoutes(onePath, deps);
  registerProjectRoutes(onePath, deps);
  registerAsCodeRoutes(onePath, deps);
  registerAuditLogRoutes(onePath, deps);
  // Operations on the installation, for the users in OPERATORS.
  registerOperatorHealthRoutes(onePath, deps);
  registerOperatorTenantRoutes(onePath, deps);
  registerOperatorProviderRoutes(onePath, deps);
  registerOperatorRoutePauseRoutes(onePath, deps);
  registerOperatorSendingRoutes(onePath, deps);
  // The service itself.
  registerHealthRoutes(onePath, deps);
  registerDocsRoutes(hono, table);
  registerFontRoutes(hono, table);
  registerDashboardRoutes(hono, table, deps);
  registerMailboxRoutes(hono, table, deps);
  registerProviderCallbackRoutes(hono, unauthenticated, deps);
  registerTrackingRoutes(unauthenticated, deps);
  registerPageRoutes(unauthenticated, deps);
  registerAssetServingRoutes(unauthenticated, deps);
}
