import { createRoute, z } from '@hono/zod-openapi';
import { createContentCache } from '../../../compute/content-cache.ts';
import { readyContent } from '../../../compute/contents.ts';
import { getCampaign, getContentId } from '../../../db/campaigns/campaigns.ts';
import { findContents } from '../../../db/contents/contents.ts';
import { type LinkClicks, listLinkClicks } from '../../../db/events/link-clicks.ts';
import { contentSource } from '../../../rules/content/content.ts';
import { ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdParams } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';

const LINK_EXAMPLE = { url: 'https://example.com/news?id={{ id }}', clicks: 40, uniqueClicks: 31, machineClicks: 12 };

const LinkRecord = z
  .object({
    url: z.string().openapi({ description: 'As the template has it' }),
    clicks: z.number().int().openapi({ description: 'By people' }),
    uniqueClicks: z.number().int().openapi({ description: 'Recipients who clicked it' }),
    machineClicks: z.number().int().openapi({ description: 'By scanners' }),
  })
  .openapi('CampaignLink', { example: LINK_EXAMPLE });

const linksRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}/links',
  operationId: 'listCampaignLinks',
  tags: ['Campaigns'],
  summary: 'Count the clicks of a campaign by link',
  description:
    'Every tracked link of the content with its template text, those never clicked too, in the order in which they stand there.',
  security: scopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: ok(z.object({ data: z.array(LinkRecord) })) },
});

type LinkAnswer = z.output<typeof LinkRecord>;

/** What people clicked in a campaign. */
export function campaignLinkRoutes(app: App, { db, reads, compute }: Deps): void {
  const contents = createContentCache({ db, compute });

  app.openapi(linksRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const work = { projectId: ref.projectId, kind: 'campaign.links' };
    const campaign = await getCampaign(db, ref);
    const contentId = await getContentId(db, ref);
    const clicks = await listLinkClicks(reads, ref);
    const links: LinkAnswer[] = [];
    // Before it is started, what it says now.
    if (contentId === null) {
      const ready = await readyContent(compute, work, contentSource({ ...campaign, type: 'MARKETING' }, true));
      addLinks(links, ready.links, []);
    }
    const ids = new Set([...(contentId === null ? [] : [contentId]), ...clicks.map((row) => row.contentId)]);
    // One that nobody has any more is removed, and its links with it.
    const there = await findContents(reads, { projectId: ref.projectId, ids: [...ids] });
    for (const id of [...ids].filter((id) => there.has(id))) {
      const { ready } = await contents.get({ ...work, contentId: id, tracked: true });
      addLinks(
        links,
        ready.links,
        clicks.filter((row) => row.contentId === id),
      );
    }
    return c.json({ data: links }, 200);
  });
}

/** Contents of one campaign may share a link. */
function addLinks(links: LinkAnswer[], urls: string[], clicks: LinkClicks[]): void {
  for (const [index, url] of urls.entries()) {
    const here = clicks.find((row) => row.link === index);
    const known = links.find((link) => link.url === url);
    const entry = known ?? { url, clicks: 0, uniqueClicks: 0, machineClicks: 0 };
    if (!known) links.push(entry);
    entry.clicks += here?.clicks ?? 0;
    entry.uniqueClicks += here?.uniqueClicks ?? 0;
    entry.machineClicks += here?.machineClicks ?? 0;
  }
}
