import { ActionIcon, Box, Menu, Title, Tooltip } from '@mantine/core';
import { IconArrowLeft, type IconDots } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import type { Permission } from '../app/session.ts';
import { text } from '../text/text.ts';
import { ActionButton } from './action-button.tsx';
import { type BackLink, useBackLink, useTabTitle } from './back-link.ts';
import classes from './editor-frame.module.css';
import { Failed } from './failed.tsx';
import { Placeholder, WhenSlow } from './loading.tsx';
import { MoreItem, MoreMenu } from './more-menu.tsx';
import { GrayLine } from './pending-lines.tsx';
import { useIsPhone } from './use-is-phone.ts';

/** A section of an editor: its path in the app, and a function that opens it if a plain link is not enough. */
export interface EditorSection {
  name: string;
  to: string;
  isCurrent: boolean;
  onOpen?: () => void;
}

/** The sections of an editor, and whether they are steps, which have an order. */
export interface EditorSections {
  label: string;
  areSteps?: boolean;
  sections: readonly EditorSection[];
}

/** An action of an editor: a button in the header, and an entry of the "…" menu on a phone. */
export interface EditorTool {
  label: string;
  icon: typeof IconDots;
  /** `icon` shows the icon alone, `both` the icon beside the label. If absent, the button shows the label alone. */
  look?: 'icon' | 'both';
  needs?: Permission;
  /** Why the action is not possible now, although the role permits it. */
  whyNot?: string | undefined;
  /** Undefined if there is nothing to do now. This disables an icon button and an entry of the "…" menu. */
  onClick: (() => void) | undefined;
}

/**
 * The frame of a full-screen editor: a header with the link back, name, state, sections and actions above the work
 * area. On a phone the header is one row, and steps and tools are in its "…" menu. A route that shows the frame has
 * `staticData: { isFullScreen: true }`, so that the sidebar is hidden.
 */
export function EditorFrame({
  back,
  title,
  isPending = false,
  hasTabs = false,
  state,
  nav,
  tools = [],
  primary,
  menu,
  notices,
  children,
}: {
  back: BackLink;
  title: string;
  /** Shows a gray bar instead of the title while the record loads. The title is then only in the browser tab. */
  isPending?: boolean;
  /** Reserves the row of tabs on a phone while the record loads. */
  hasTabs?: boolean;
  /** The status of the record, and whether everything is saved. */
  state?: ReactNode;
  nav?: EditorSections;
  tools?: readonly EditorTool[];
  /** The main action. */
  primary?: ReactNode;
  /** Entries of the "…" menu. */
  menu?: ReactNode;
  /** Alerts between the header and the work area. */
  notices?: ReactNode;
  children: ReactNode;
}) {
  useTabTitle(title);
  const link = useBackLink(back);
  const isPhone = useIsPhone();
  const steps = isPhone && nav?.areSteps ? nav : undefined;
  const folded = isPhone ? tools : [];
  const hasMenu = Boolean(menu) || steps !== undefined || folded.length > 0;
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
          {isPending ? (
            <WhenSlow>
              <GrayLine width={120} />
            </WhenSlow>
          ) : (
            <Title order={1} className={classes.title} title={title}>
              {title}
            </Title>
          )}
          {(state || steps) && (
            <div className={classes.state}>
              {steps && <span>{steps.sections.find(({ isCurrent }) => isCurrent)?.name}</span>}
              {state}
            </div>
          )}
        </div>
        {nav && !steps && <EditorNav {...nav} />}
        {isPending && hasTabs && <div className={classes.tabs} />}
        {(tools.length > 0 || primary || hasMenu) && (
          <div className={classes.actions}>
            {!isPhone && tools.map((tool) => <ToolButton key={tool.label} {...tool} />)}
            {primary}
            {hasMenu && (
              <MoreMenu>
                {steps && <StepItems {...steps} />}
                {folded.map(({ label, look: _, ...item }) => (
                  <MoreItem key={label} {...item}>
                    {label}
                  </MoreItem>
                ))}
                {folded.length > 0 && menu && <Menu.Divider />}
                {menu}
              </MoreMenu>
            )}
          </div>
        )}
      </header>
      <div className={classes.notices}>{notices}</div>
      <div className={classes.work}>{children}</div>
    </div>
  );
}

function ToolButton({ label, icon: Icon, look, onClick, ...action }: EditorTool) {
  const icon = <Icon size={16} stroke={1.75} aria-hidden />;
  if (look !== 'icon') {
    return (
      <ActionButton {...action} variant="default" leftSection={look && icon} {...(onClick && { onClick })}>
        {label}
      </ActionButton>
    );
  }
  const isDisabled = onClick === undefined;
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={32}
        aria-label={label}
        data-disabled={isDisabled || undefined}
        aria-disabled={isDisabled || undefined}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** The steps of an editor in the "…" menu of a phone. */
function StepItems({ label, sections }: EditorSections) {
  const open = useOpenSection();
  return (
    <>
      <Menu.Label>{label}</Menu.Label>
      {sections.map((section, n) => (
        <Menu.Item
          key={section.name}
          component="a"
          href={`/app${section.to}`}
          aria-current={section.isCurrent ? 'step' : undefined}
          className={classes.step}
          onClick={open(section)}
        >
          {n + 1}. {section.name}
        </Menu.Item>
      ))}
      <Menu.Divider />
    </>
  );
}

/** Returns click handlers that open a section without loading the page again. */
function useOpenSection() {
  const router = useRouter();
  return ({ to, onOpen }: EditorSection) =>
    (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      if (onOpen) onOpen();
      else void router.navigate({ href: to });
    };
}

/** Shows the editor of a record. Without the record, shows the frame with the link back, and gray parts or an error. */
export function EditorQuery<Data>({
  of: { data, error, refetch },
  back,
  hasTabs,
  pending,
  children,
}: {
  of: Pick<UseQueryResult<Data, Error>, 'data' | 'error' | 'refetch'>;
  back: BackLink;
  /** Whether the header has tabs. */
  hasTabs?: boolean;
  /** The gray parts of the work area. */
  pending: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  const frame = { back, title: back.label };
  if (error) {
    return (
      <EditorFrame {...frame}>
        <EditorPage>
          <Failed error={error} retry={() => void refetch()} />
        </EditorPage>
      </EditorFrame>
    );
  }
  return (
    <EditorFrame {...frame} isPending {...(hasTabs && { hasTabs })}>
      <Placeholder isBoxless>{pending}</Placeholder>
    </EditorFrame>
  );
}

/** Links to the sections of an editor. Steps have an order, which arrows show. */
function EditorNav({ label, sections, areSteps = false }: EditorSections) {
  const open = useOpenSection();
  return (
    <nav aria-label={label} className={areSteps ? classes.steps : classes.tabs}>
      {sections.map((section) => (
        <a
          key={section.name}
          href={`/app${section.to}`}
          aria-current={section.isCurrent ? (areSteps ? 'step' : 'page') : undefined}
          onClick={open(section)}
        >
          {section.name}
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
