import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import type { Permission } from '../../app/session.ts';
import { PendingForm } from '../../parts/gray-parts.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RequirePermission } from '../../parts/require-permission.tsx';
import { text } from '../../text/text.ts';
import { AuditLog } from './audit-log.tsx';
import { Domains } from './domains.tsx';
import { SECTIONS, type Section } from './routes.ts';
import { Senders } from './senders.tsx';
import { Suppressions } from './suppressions.tsx';
import { Team } from './team.tsx';
import { Topics } from './topics.tsx';

const Project = lazy(() => import('./project/project-section.tsx').then((module) => ({ default: module.Project })));

/** `needs` is absent if the screen itself checks the permission for its parts. */
const CONTENT: Record<Section, { needs?: Permission; screen: ReactNode }> = {
  project: { needs: 'project:manage', screen: <Project /> },
  domains: { needs: 'domains:view', screen: <Domains /> },
  topics: { needs: 'contacts:view', screen: <Topics /> },
  senders: { needs: 'project:manage', screen: <Senders /> },
  suppressions: { needs: 'contacts:view', screen: <Suppressions /> },
  team: { screen: <Team /> },
  'audit-log': { needs: 'apikeys:manage', screen: <AuditLog /> },
};

/** Sections that the sidebar links to. Each of these sections has its own title, and no tabs. */
const PAGES: readonly Section[] = ['domains', 'topics'];
const TABS = SECTIONS.filter((name) => !PAGES.includes(name));

/** The settings of the project. Each section has its own URL. */
export function Settings() {
  const { section = 'project' } = useParams({ strict: false });
  const navigate = useNavigate();
  const open = (next: string | null) =>
    void navigate({ to: '/settings/$section', params: { section: next ?? 'project' } });
  const current = SECTIONS.find((name) => name === section) ?? 'project';
  const { needs, screen } = CONTENT[current];
  const content = (
    <RequirePermission permission={needs}>
      <Suspense fallback={<PendingForm />}>{screen}</Suspense>
    </RequirePermission>
  );
  if (PAGES.includes(current)) return content;
  return (
    <>
      <PageHead title={text.settings.title} />
      <Tabs value={current} onChange={open} keepMounted={false} activateTabWithKeyboard={false}>
        <Tabs.List mb="lg" aria-label={text.settings.pick}>
          {TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {text.settings.sections[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={current}>{content}</Tabs.Panel>
      </Tabs>
    </>
  );
}
