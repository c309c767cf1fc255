import { Button, Group } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';

const words = text.operator;
const PARTS = [
  { to: '/operator', label: words.health },
  { to: '/operator/projects', label: words.tenants },
  { to: '/operator/providers', label: words.providers },
] as const;

/** The header of the operator's screens, with links between them. */
export function OperatorHead({ title }: { title: string }) {
  const { pathname } = useLocation();
  return (
    <>
      <PageHead title={`${words.title}: ${title}`} />
      <Group component="nav" aria-label={words.parts} gap="xs" mb="lg">
        {PARTS.map(({ to, label }) => (
          <Button
            key={to}
            component={Link}
            to={to}
            size="xs"
            variant={pathname === to ? 'light' : 'subtle'}
            aria-current={pathname === to ? 'page' : undefined}
          >
            {label}
          </Button>
        ))}
      </Group>
    </>
  );
}
