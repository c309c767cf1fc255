import { Box, Group, SegmentedControl, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { WholeEmail } from '../../parts/email-editor/whole-email.tsx';
import { Failed } from '../../parts/failed.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { markLinks, showMarks } from './link-marks.ts';
import classes from './reasons.module.css';
import { type Campaign, isSending } from './words.ts';

type Link = ResponseOf<'listCampaignLinks'>['data'][number];
type LinksView = 'list' | 'mail';

const words = text.campaigns;

/** Clicks by link, as a list or on the email itself. In a campaign with variants, for one variant at a time. */
export function Links({ campaign }: { campaign: Campaign }) {
  const [view, setView] = useState<LinksView>('mail');
  const names = campaign.variants?.map(({ name }) => name) ?? [];
  const [variant, setVariant] = useState(names[0]);
  const links = useQuery({
    ...queryFor('listCampaignLinks', { params: { id: campaign.id } }),
    refetchInterval: isSending(campaign.status) ? 5_000 : 30_000,
  });
  return (
    <CardSection
      title={words.links}
      aside={
        <Group gap="xs">
          {names.length > 0 && (
            <SegmentedControl
              size="xs"
              aria-label={words.variant}
              value={variant ?? ''}
              onChange={setVariant}
              data={names}
            />
          )}
          <SegmentedControl
            size="xs"
            aria-label={words.links}
            value={view}
            onChange={(next) => setView(next as LinksView)}
            data={[
              { value: 'mail', label: words.onEmail },
              { value: 'list', label: words.asList },
            ]}
          />
        </Group>
      }
    >
      <QueryView of={links} height={300}>
        {({ data }) => {
          const variantLinks = listVariantLinks(data, variant);
          return (
            <>
              {variantLinks.some(({ clicks }) => clicks > 0) && (
                <Text size="xs" c="dimmed" className={`card-block ${classes.note}`}>
                  {words.linksNote}
                </Text>
              )}
              {view === 'list' ? (
                <List links={variantLinks} />
              ) : (
                <ClicksOnEmail campaign={campaign} variant={variant} links={variantLinks} />
              )}
            </>
          );
        }}
      </QueryView>
    </CardSection>
  );
}

/** Returns the links of a variant with the clicks of this variant; without a variant, all links. */
function listVariantLinks(links: Link[], variant: string | undefined): Omit<Link, 'variants'>[] {
  if (variant === undefined) return links;
  return links.flatMap(({ url, variants }) => {
    const counts = variants?.find(({ name }) => name === variant);
    return counts ? [{ ...counts, url }] : [];
  });
}

function List({ links }: { links: Omit<Link, 'variants'>[] }) {
  if (links.length === 0)
    return (
      <Text size="sm" c="dimmed" className="card-block">
        {words.noLinks}
      </Text>
    );
  const most = Math.max(1, ...links.map(({ clicks }) => clicks));
  return (
    <Table.ScrollContainer minWidth={320} type="native" px="xs" pb={4}>
      <Table aria-label={words.links} layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.link}</Table.Th>
            <Table.Th w={116} visibleFrom="sm" aria-hidden />
            <Table.Th w={64} ta="right">
              {words.linkClicks}
            </Table.Th>
            <Table.Th w={72} ta="right">
              {words.linkPeople}
            </Table.Th>
            <Table.Th w={80} ta="right">
              {words.linkMachines}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {links.map(({ url, clicks, uniqueClicks, machineClicks }) => (
            <Table.Tr key={url}>
              <Table.Td>
                <Text inherit lineClamp={2} title={url} style={{ overflowWrap: 'anywhere' }}>
                  {url}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm" aria-hidden>
                <div className={classes.bar}>
                  <div data-tone="accent" style={{ width: `${(100 * clicks) / most}%` }} hidden={clicks === 0} />
                </div>
              </Table.Td>
              <Table.Td ta="right" fw={500}>
                {formatCount(clicks)}
              </Table.Td>
              <Table.Td ta="right" c="dimmed">
                {formatCount(uniqueClicks)}
              </Table.Td>
              <Table.Td ta="right" c="dimmed">
                {formatCount(machineClicks)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Shows the email, rendered without a contact, with the number of clicks at each link. */
function ClicksOnEmail({
  campaign,
  variant,
  links,
}: {
  campaign: Campaign;
  variant: string | undefined;
  links: Omit<Link, 'variants'>[];
}) {
  const content = campaign.variants?.find(({ name }) => name === variant);
  const marked = links.map(({ url, clicks }) => ({ url, label: words.clicksShown(formatCount(clicks)) }));
  const body = {
    subject: content?.subject ?? campaign.subject,
    body: markLinks(content?.body ?? campaign.body, marked),
    type: 'MARKETING' as const,
  };
  const preview = useQuery({
    ...queryFor('previewTemplate', { body }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const key = JSON.stringify(marked);
  const html = useMemo(
    () => (preview.data ? showMarks(preview.data.html, JSON.parse(key)) : undefined),
    [preview.data, key],
  );
  if (preview.error) return <Failed error={preview.error} />;
  return html === undefined ? <Box mih={320} /> : <WholeEmail html={html} title={words.mail} isBare />;
}
