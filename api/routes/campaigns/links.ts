import { createRoute, z } from '@hono/zod-openapi';
import { type ContentCache, createContentCache } from '../../../compute/content-cache.ts';
import { compileForSending } from '../../../compute/contents.ts';
import {
  type Campaign,
  getCampaign,
  getCampaignContentIds,
  listVariantTexts,
} from '../../../db/campaigns/campaigns.ts';
import { listLinkClicks } from '../../../db/campaigns/link-clicks.ts';
import { findContents } from '../../../db/contents/contents.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import { type LinksOf, sumLinkClicks } from '../../../rules/campaigns/link-figures.ts';
import { toContentSource } from '../../../rules/content/content.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { IdParams, TruncatedLists } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';

const figures = {
  clicks: z.number().int().openapi({ description: 'Clicks by humans' }),
  uniqueClicks: z.number().int().openapi({ description: 'Recipients who clicked the link' }),
  machineClicks: z.number().int().openapi({ description: 'Clicks by scanners' }),
};

const LinkRecord = z
  .object({
    url: z.string().openapi({ description: 'The URL as written in the template' }),
    ...figures,
    variants: z
      .array(z.object({ name: z.string(), ...figures }).openapi('CampaignLinkOfVariant'))
      .nullable()
      .openapi({
        description: 'Clicks for each variant that contains this link. Null if the campaign has no variants.',
      }),
  })
  .openapi('CampaignLink', {
    example: {
      url: 'https://example.com/news?id={{ id }}',
      clicks: 40,
      uniqueClicks: 31,
      machineClicks: 12,
      variants: null,
    },
  });

const linksRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}/links',
  operationId: 'listCampaignLinks',
  tags: ['Campaigns'],
  summary: 'Count the clicks of a campaign by link',
  description:
    'Lists every tracked link as it is written in the template, in the order of the template, including links without clicks. For a campaign with variants, each link is listed once, with the clicks of all variants.',
  security: allowScopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(z.object({ data: z.array(LinkRecord), truncated: TruncatedLists })) },
});

/** Registers the operation that counts the clicks of a campaign by link. */
export function registerCampaignLinkRoutes(app: App, { db, reads, compute }: Deps): void {
  const contents = createContentCache({ db, compute });

  app.openapi(linksRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const work = { projectId: ref.projectId, kind: 'campaign.links' };
    const campaign = await getCampaign(db, ref);
    const contentIds = await getCampaignContentIds(db, ref);
    const clicks = await listLinkClicks(reads, { ...ref, variants: campaign.variants !== null });
    // A campaign that has not started has no stored contents, so its links come from its current text.
    if (contentIds === null)
      return c.json(
        truncateLists({ data: sumLinkClicks(await listDraftLinks(campaign), listVariantNames(campaign), []) }),
        200,
      );
    const ids = [...new Set([...contentIds, ...clicks.map((row) => row.contentId)])];
    const urls = await readStoredLinks(contents, ids, ref.projectId);
    const links = contentIds.map((id, n) => ({ urls: urls.get(id) ?? [], variant: campaign.variants ? n : null }));
    const clicksWithUrls = clicks.map((row) => ({ ...row, url: urls.get(row.contentId)?.[row.link] }));
    return c.json(truncateLists({ data: sumLinkClicks(links, listVariantNames(campaign), clicksWithUrls) }), 200);

    async function listDraftLinks(draft: Campaign): Promise<LinksOf[]> {
      const sources = listVariantTexts(draft).map((text) => toContentSource({ ...text, type: 'MARKETING' }, true));
      const links: LinksOf[] = [];
      for (const [n, source] of sources.entries()) {
        const { links: urls } = await compileForSending(compute, work, source);
        links.push({ urls, variant: draft.variants ? n : null });
      }
      return links;
    }
  });

  /** Returns the links of each content by the content's id. Contents that have been deleted have no entry. */
  async function readStoredLinks(
    cache: ContentCache,
    ids: string[],
    projectId: string,
  ): Promise<Map<string, string[]>> {
    const existing = await findContents(reads, { projectId, ids });
    const links = new Map<string, string[]>();
    for (const contentId of ids.filter((id) => existing.has(id))) {
      const { ready } = await cache.get({ projectId, kind: 'campaign.links', contentId, tracked: true });
      links.set(contentId, ready.links);
    }
    return links;
  }
}

function listVariantNames({ variants }: Campaign): string[] | null {
  return variants?.map(({ name }) => name) ?? null;
}
