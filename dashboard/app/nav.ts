import {
  IconBolt,
  IconBraces,
  IconChartPie2,
  IconHome,
  IconMail,
  IconSettings,
  IconShield,
  IconSpeakerphone,
  IconTemplate,
  IconUsers,
} from '@tabler/icons-react';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** A link of the sidebar: its path, and the letter that opens it after `g`. */
export interface NavLinkTo {
  to: string;
  label: string;
  icon: typeof IconHome;
  key: string;
}

/** The groups of the sidebar. The first and the last group have no name. */
const GROUPS: readonly { name?: string; links: readonly NavLinkTo[] }[] = [
  { links: [{ to: '/', label: text.nav.home, icon: IconHome, key: 'h' }] },
  {
    name: text.nav.groups.audience,
    links: [
      { to: '/contacts', label: text.nav.contacts, icon: IconUsers, key: 'c' },
      { to: '/segments', label: text.nav.segments, icon: IconChartPie2, key: 's' },
    ],
  },
  {
    name: text.nav.groups.send,
    links: [
      { to: '/campaigns', label: text.nav.campaigns, icon: IconSpeakerphone, key: 'm' },
      { to: '/automations', label: text.nav.automations, icon: IconBolt, key: 'a' },
      { to: '/templates', label: text.nav.templates, icon: IconTemplate, key: 't' },
    ],
  },
  {
    name: text.nav.groups.activity,
    links: [
      { to: '/messages', label: text.nav.messages, icon: IconMail, key: 'e' },
      { to: '/developers', label: text.nav.developers, icon: IconBraces, key: 'd' },
    ],
  },
  { links: [{ to: '/settings', label: text.nav.settings, icon: IconSettings, key: 'x' }] },
];

const OPERATOR: NavLinkTo = { to: '/operator', label: text.nav.operator, icon: IconShield, key: 'o' };

/** Returns the groups of the sidebar. For operators of the service, the last group has one more link. */
export function useNavGroups() {
  const { operator } = useSession();
  if (!operator) return GROUPS;
  return GROUPS.map((group, index) =>
    index === GROUPS.length - 1 ? { ...group, links: [...group.links, OPERATOR] } : group,
  );
}

/** Returns all links of the sidebar for the signed-in user. */
export function useNav(): readonly NavLinkTo[] {
  return useNavGroups().flatMap(({ links }) => links);
}
