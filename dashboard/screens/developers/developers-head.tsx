import { Anchor, Button, Group } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AsCode } from '../../parts/as-code.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';

const words = text.developers;
const TABS = [
  { to: '/developers', name: 'keys' },
  { to: '/developers/webhooks', name: 'webhooks' },
  { to: '/developers/events', name: 'events' },
  { to: '/developers/requests', name: 'requests' },
] as const;

/** The header of the four lists for developers, with links between them and to the API reference. */
export function DevelopersHead({
  tab,
  actions,
  code,
}: {
  tab: (typeof TABS)[number]['name'];
  actions?: ReactNode;
  /** The API request that returns the same list. */
  code?: CurlRequest;
}) {
  return (
    <>
      <PageHead
        title={words.tabs[tab]}
        actions={
          <>
            {code && <AsCode {...code} />}
            {actions}
          </>
        }
      />
      <Group component="nav" aria-label={words.parts} gap={4} mb="lg">
        {TABS.map(({ to, name }) => (
          <Button
            key={name}
            component={Link}
            to={to}
            size="compact-md"
            variant={name === tab ? 'light' : 'subtle'}
            color={name === tab ? undefined : 'gray'}
            aria-current={name === tab ? 'page' : undefined}
          >
            {words.tabs[name]}
          </Button>
        ))}
        <Anchor href="/docs" target="_blank" rel="noreferrer" size="sm" ml="xs">
          <Group component="span" gap={4} display="inline-flex">
            {words.reference}
            <IconExternalLink size={14} aria-hidden />
          </Group>
        </Anchor>
      </Group>
    </>
  );
}
