import { createRoute } from '@hono/zod-openapi';
import { listProviderReplies } from '../../../db/operator/provider-replies.ts';
import { listSnsSubscriptions } from '../../../db/operator/sns-subscriptions.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { allowSession } from '../../http/security.ts';
import { requireOperator } from './access.ts';
import { ResponsesQuery } from './input.ts';
import { ProviderResponses } from './response.ts';

const route = createRoute({
  method: 'get',
  path: '/operator/provider-answers',
  operationId: 'listProviderAnswers',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags: ['Operator'],
  summary: 'List replies of mail servers',
  description:
    'Lists the reply codes of mail servers over all projects, the most frequent first, with the number of emails and the domains of the recipients.',
  security: allowSession(),
  request: { query: ResponsesQuery },
  responses: { 200: jsonResponse(ProviderResponses) },
});

export function registerOperatorProviderRoutes(app: App, deps: Deps): void {
  const { reads, config } = deps;
  app.openapi(route, async (c) => {
    await requireOperator(c, deps);
    const { looked, since, answers } = await listProviderReplies(reads, c.req.valid('query'));
    const data = answers.map(({ newestAt, ...answer }) => ({ ...answer, newestAt: newestAt.toISOString() }));
    const from = { provider: config.email.provider, looked, since: since?.toISOString() ?? null };
    const subscriptions = await listSnsSubscriptions(reads, config.email.ses.snsTopicArns);
    const snsTopics = subscriptions.map((one) => ({ ...one, since: one.since?.toISOString() ?? null }));
    return c.json({ ...from, answers: data, snsTopics }, 200);
  });
}
