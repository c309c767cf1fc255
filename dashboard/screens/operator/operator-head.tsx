import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';

const words = text.operator;
const PARTS = [
  { to: '/operator', label: words.health },
  { to: '/operator/projects', label: words.tenants },
  { to: '/operator/providers', label: words.providers },
] as const;
/**
 * Makes a link active on its own path only. Without this, the link to /operator would be active on every path below
 * /operator.
 */
const EXACT = { exact: true, includeSearch: false };

/** The header of the operator's screens, with links between them. */
export function OperatorHead({
  title,
  status,
  count,
}: {
  title: string;
  status?: ReactNode;
  count?: number | null | undefined;
}) {
  const { pathname } = useLocation();
  return (
    <>
      <PageHead title={`${words.title}: ${title}`} status={status} count={count} />
      <nav aria-label={words.parts} className="nav-tabs">
        {PARTS.map(({ to, label }) => (
          <Link key={to} to={to} activeOptions={EXACT} aria-current={pathname === to ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </nav>
    </>
  );
}
