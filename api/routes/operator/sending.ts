import { createRoute } from '@hono/zod-openapi';
import { resumeSending } from '../../../db/installation/sending-hold.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { allowSession } from '../../http/security.ts';
import { requireOperator } from './access.ts';
import { Sending, toSendingHoldResponse } from './response.ts';

const route = createRoute({
  method: 'post',
  path: '/operator/sending/resume',
  operationId: 'resumeSending',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags: ['Operator'],
  summary: 'Start sending from a cloned installation',
  description:
    'Ends the hold of an installation that was started with `INSTALLATION=new`: waiting emails, SMS, webhook deliveries and WEBHOOK steps are sent. If recovery must run first, they wait until it has ended (`sendingHold`). Same as `npm run operator -- resume`.',
  security: allowSession(),
  responses: { 200: jsonResponse(Sending) },
});

export function registerOperatorSendingRoutes(app: App, deps: Deps): void {
  const { db, log } = deps;
  app.openapi(route, async (c) => {
    await requireOperator(c, deps);
    const hold = await resumeSending(db);
    log.warn('an operator has let the installation send');
    return c.json({ sendingHold: toSendingHoldResponse(hold) }, 200);
  });
}
