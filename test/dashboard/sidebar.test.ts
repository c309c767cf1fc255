import { IconHome } from '@tabler/icons-react';
import { expect, it } from 'vitest';
import { findActiveLink, type SidebarLink } from '../../dashboard/app/nav.ts';

const createLink = (to: string, also?: string): SidebarLink => ({
  to,
  label: to,
  icon: IconHome,
  key: 'x',
  ...(also && { also }),
});
const LINKS = [
  createLink('/'),
  createLink('/automations', '/messages/executions'),
  createLink('/messages'),
  createLink('/messages/sms'),
  createLink('/settings'),
  createLink('/settings/domains'),
];

it.each([
  ['/', '/'],
  ['/messages', '/messages'],
  ['/messages/01a2211e', '/messages'],
  ['/messages/sms/01a2211e', '/messages/sms'],
  ['/messages/executions/01a2211e', '/automations'],
  ['/settings/domains', '/settings/domains'],
  ['/settings/team', '/settings'],
  ['/nowhere', undefined],
])('at %s the sidebar marks the link to %s', (path, to) => {
  expect(findActiveLink(LINKS, path)?.to).toBe(to);
});
