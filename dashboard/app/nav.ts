import {
  IconActivity,
  IconBolt,
  IconBookmarks,
  IconChartPie2,
  IconHome,
  IconKey,
  IconListDetails,
  IconMail,
  IconMessage,
  IconSettings,
  IconShield,
  IconSpeakerphone,
  IconTemplate,
  IconUsers,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** A link of the sidebar. */
export interface SidebarLink {
  to: string;
  label: string;
  icon: typeof IconHome;
  /** The letter that opens the link after the key `g`. */
  key: string;
  /** Another path that belongs to this link although it does not start with `to`. */
  also?: string;
}

/** The groups of the sidebar. The first and the last group have no name. */
const GROUPS: readonly { name?: string; links: readonly SidebarLink[] }[] = [
  { links: [{ to: '/', label: text.nav.home, icon: IconHome, key: 'h' }] },
  {
    name: text.nav.groups.audience,
    links: [
      { to: '/contacts', label: text.nav.contacts, icon: IconUsers, key: 'c' },
      { to: '/segments', label: text.nav.segments, icon: IconChartPie2, key: 's' },
      { to: '/settings/topics', label: text.nav.topics, icon: IconBookmarks, key: 'p' },
    ],
  },
  {
    name: text.nav.groups.send,
    links: [
      { to: '/campaigns', label: text.nav.campaigns, icon: IconSpeakerphone, key: 'm' },
      { to: '/automations', label: text.nav.automations, icon: IconBolt, key: 'a', also: '/messages/executions' },
      { to: '/templates', label: text.nav.templates, icon: IconTemplate, key: 't' },
    ],
  },
  {
    name: text.nav.groups.activity,
    links: [
      { to: '/messages', label: text.nav.emails, icon: IconMail, key: 'e' },
      { to: '/messages/sms', label: text.nav.sms, icon: IconMessage, key: 'n' },
      { to: '/developers/events', label: text.nav.events, icon: IconActivity, key: 'v' },
    ],
  },
  {
    name: text.nav.groups.developers,
    links: [
      { to: '/developers', label: text.nav.keys, icon: IconKey, key: 'k' },
      { to: '/developers/webhooks', label: text.nav.webhooks, icon: IconWebhook, key: 'w' },
      { to: '/developers/requests', label: text.nav.requests, icon: IconListDetails, key: 'r' },
      { to: '/settings/domains', label: text.nav.domains, icon: IconWorld, key: 'd' },
    ],
  },
  { links: [{ to: '/settings', label: text.nav.settings, icon: IconSettings, key: 'x' }] },
];

const OPERATOR: SidebarLink = { to: '/operator', label: text.nav.operator, icon: IconShield, key: 'o' };

/** Returns the groups of the sidebar. For operators of the service, the last group has one more link. */
export function useSidebarGroups() {
  const { operator } = useSession();
  if (!operator) return GROUPS;
  return GROUPS.map((group, index) =>
    index === GROUPS.length - 1 ? { ...group, links: [...group.links, OPERATOR] } : group,
  );
}

/** Returns all links of the sidebar for the signed-in user. */
export function useSidebarLinks(): readonly SidebarLink[] {
  return useSidebarGroups().flatMap(({ links }) => links);
}

/** Returns the sidebar's link for a path: the link with the longest path that contains it. `/` contains only itself. */
export function findActiveLink(links: readonly SidebarLink[], pathname: string): SidebarLink | undefined {
  const matched = links.flatMap((link) =>
    [link.to, link.also].flatMap((path) =>
      path !== undefined && (pathname === path || (path !== '/' && pathname.startsWith(`${path}/`)))
        ? [{ link, length: path.length }]
        : [],
    ),
  );
  return matched.sort((a, b) => b.length - a.length)[0]?.link;
}
