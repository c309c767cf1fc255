import { ActionIcon, Box, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../text/text.ts';
import { type BackLink, useBackLink, useTabTitle } from './back-link.ts';
import classes from './editor-frame.module.css';
import { QueryView } from './query-view.tsx';

/**
 * The frame of a full-screen editor: a header with the way back, name, state, sections and actions above the work
 * area. A route that shows it has `staticData: { isFullScreen: true }`, so that the sidebar is hidden.
 */
export function EditorFrame({
  back,
  title,
  state,
  nav,
  actions,
  notices,
  children,
}: {
  back: BackLink;
  title: string;
  /** The status of the record, and whether everything is saved. */
  state?: ReactNode;
  /** An `EditorNav`. */
  nav?: ReactNode;
  actions?: ReactNode;
  /** Alerts between the header and the work area. */
  notices?: ReactNode;
  children: ReactNode;
}) {
  useTabTitle(title);
  const link = useBackLink(back);
  return (
    <div className={classes.frame}>
      <header className={classes.head}>
        <div className={classes.start}>
          <ActionIcon
            component="a"
            {...link}
            variant="subtle"
            color="gray"
            size={32}
            aria-label={text.parts.backTo(back.label)}
          >
            <IconArrowLeft size={16} stroke={1.75} aria-hidden />
          </ActionIcon>
          <Title order={1} className={classes.title} title={title}>
            {title}
          </Title>
          {state && <div className={classes.state}>{state}</div>}
        </div>
        {nav}
        {actions && <div className={classes.actions}>{actions}</div>}
      </header>
      <div className={classes.notices}>{notices}</div>
      <div className={classes.work}>{children}</div>
    </div>
  );
}

/** Shows the editor of a record. While the record is loading or missing, the frame has only the way back. */
export function EditorQuery<Data>({
  of,
  back,
  children,
}: {
  of: Pick<UseQueryResult<Data, Error>, 'data' | 'error' | 'refetch'>;
  back: BackLink;
  children: (data: Data) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  return (
    <EditorFrame back={back} title={back.label}>
      <EditorPage>
        <QueryView of={of}>{children}</QueryView>
      </EditorPage>
    </EditorFrame>
  );
}

/** A section of an editor: its path in the app, and what opens it if that is more than following the link. */
export interface EditorSection {
  name: string;
  to: string;
  isCurrent: boolean;
  onOpen?: () => void;
}

/** Links to the sections of an editor. Steps have an order, which arrows show. */
export function EditorNav({
  label,
  sections,
  areSteps = false,
}: {
  label: string;
  sections: readonly EditorSection[];
  areSteps?: boolean;
}) {
  const router = useRouter();
  return (
    <nav aria-label={label} className={areSteps ? classes.steps : classes.tabs}>
      {sections.map(({ name, to, isCurrent, onOpen }) => (
        <a
          key={name}
          href={`/app${to}`}
          aria-current={isCurrent ? (areSteps ? 'step' : 'page') : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            if (onOpen) onOpen();
            else void router.navigate({ href: to });
          }}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

/** A section of an editor that is a form and not a canvas: one column in the middle. */
export function EditorPage({ width = 720, children }: { width?: number; children: ReactNode }) {
  return (
    <div className={classes.page}>
      <Box maw={width} mx="auto">
        {children}
      </Box>
    </div>
  );
}

/** The column beside the canvas. */
export function EditorPanel({ label, children }: { label: string; children: ReactNode }) {
  return (
    <aside aria-label={label} className={classes.panel}>
      {children}
    </aside>
  );
}

/** A part of a panel, with a line above it. */
export function PanelGroup({ children }: { children: ReactNode }) {
  return <div className={classes.group}>{children}</div>;
}
