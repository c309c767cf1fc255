import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Deps } from './deps.ts';
import type { App, AppEnv } from './env.ts';
import type { OpenRoutes } from './registrar.ts';
import type { RouteTable } from './route-table.ts';
import { activityRoutes } from './routes/activity.ts';
import { analyticsRoutes } from './routes/analytics.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { auditLogRoutes } from './routes/audit-log.ts';
import { authRoutes } from './routes/auth.ts';
import { campaignRoutes } from './routes/campaigns.ts';
import { contactFieldRoutes } from './routes/contact-fields.ts';
import { contactJobRoutes } from './routes/contact-jobs.ts';
import { contactRoutes } from './routes/contacts.ts';
import { docsRoutes } from './routes/docs.ts';
import { domainRoutes } from './routes/domains.ts';
import { emailRoutes } from './routes/emails.ts';
import { eventRoutes } from './routes/events.ts';
import { executionRoutes } from './routes/executions.ts';
import { healthRoutes } from './routes/health.ts';
import { mailboxRoutes } from './routes/mailbox.ts';
import { pageRoutes } from './routes/pages.ts';
import { projectRoutes } from './routes/project.ts';
import { providerCallbackRoutes } from './routes/provider-callbacks.ts';
import { segmentRoutes } from './routes/segments.ts';
import { sendRoutes } from './routes/send.ts';
import { smsRoutes } from './routes/sms.ts';
import { smsSenderRoutes } from './routes/sms-senders.ts';
import { storefrontRoutes } from './routes/storefront.ts';
import { suppressionRoutes } from './routes/suppressions.ts';
import { templateRoutes } from './routes/templates.ts';
import { trackRoutes } from './routes/track.ts';
import { trackingRoutes } from './routes/tracking.ts';
import { verifyRoutes } from './routes/verify.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workflowStepRoutes } from './routes/workflow-steps.ts';
import { workflowRoutes } from './routes/workflows.ts';

export interface Registrars {
  /** Operations that answer at `/x` and at `/v1/x`; routes name `/x`. */
  both: App;
  /** Operations that answer at the path they name and nowhere else. */
  only: App;
  /** Pages, pixels and callbacks: no credentials, no guard, a limit by the caller's address where they write. */
  openly: OpenRoutes;
  /** Files and pages that only show something. Add their paths to `table`. */
  hono: OpenAPIHono<AppEnv>;
  table: RouteTable;
}

/** Every route of the service, in the order of the API guide. */
export function registerRoutes({ both, only, openly, hono, table }: Registrars, deps: Deps): void {
  // Dashboard-style resources, at both paths.
  workflowRoutes(both, deps);
  workflowStepRoutes(both, deps);
  executionRoutes(both, deps);
  eventRoutes(both, deps);
  activityRoutes(both, deps);
  analyticsRoutes(both, deps);
  contactFieldRoutes(both, deps);
  contactJobRoutes(both, deps);
  contactRoutes(both, deps);
  suppressionRoutes(both, deps);
  templateRoutes(both, deps);
  domainRoutes(both, deps);
  verifyRoutes(only, deps);
  segmentRoutes(both, deps);
  campaignRoutes(both, deps);
  webhookRoutes(both, deps);
  // Public endpoints, under /v1 only.
  sendRoutes(only, deps);
  emailRoutes(only, deps);
  smsRoutes(only, deps);
  smsSenderRoutes(only, deps);
  trackRoutes(only, deps);
  storefrontRoutes(only, deps);
  // People, keys and the project: by session, at one path.
  authRoutes(only, deps);
  apiKeyRoutes(only, deps);
  projectRoutes(only, deps);
  auditLogRoutes(only, deps);
  // The service itself.
  healthRoutes(only, deps);
  docsRoutes(hono, table);
  mailboxRoutes(hono, table, deps);
  providerCallbackRoutes(hono, openly, deps);
  trackingRoutes(openly, deps);
  pageRoutes(openly, deps);
}
