import {
  IconBolt,
  IconBraces,
  IconFilter,
  IconHome,
  IconMail,
  IconMailForward,
  IconServerCog,
  IconSettings,
  IconTemplate,
  IconUsers,
} from '@tabler/icons-react';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/**
 * The subjects of the app as its navigation lists them: the path that leads there, and the key of `g` then that letter.
 */
const NAV = [
  { to: '/', label: text.nav.home, icon: IconHome, key: 'h' },
  { to: '/contacts', label: text.nav.contacts, icon: IconUsers, key: 'c' },
  { to: '/segments', label: text.nav.segments, icon: IconFilter, key: 's' },
  { to: '/templates', label: text.nav.templates, icon: IconTemplate, key: 't' },
  { to: '/campaigns', label: text.nav.campaigns, icon: IconMailForward, key: 'm' },
  { to: '/automations', label: text.nav.automations, icon: IconBolt, key: 'a' },
  { to: '/messages', label: text.nav.messages, icon: IconMail, key: 'e' },
  { to: '/developers', label: text.nav.developers, icon: IconBraces, key: 'd' },
  { to: '/settings', label: text.nav.settings, icon: IconSettings, key: 'x' },
] as const;

/** For those who operate the service. */
const WITH_OPERATOR = [...NAV, { to: '/operator', label: text.nav.operator, icon: IconServerCog, key: 'o' }] as const;

/** The subjects that the person who looks has. */
export function useNav() {
  const { operator } = useSession();
  return operator ? WITH_OPERATOR : NAV;
}
