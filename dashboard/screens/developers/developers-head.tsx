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
/** Otherwise the link to /developers counts as active on every address below it. */
const EXACT = { exact: true, includeSearch: false };

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
      <nav aria-label={words.parts} className="nav-tabs">
        {TABS.map(({ to, name }) => (
          <Link key={name} to={to} activeOptions={EXACT} aria-current={name === tab ? 'page' : undefined}>
            {words.tabs[name]}
          </Link>
        ))}
        <a href="/docs" target="_blank" rel="noreferrer">
          {words.reference}
          <IconExternalLink size={14} aria-hidden />
        </a>
      </nav>
    </>
  );
}
