import { Box, Button, Grid, Group, Paper, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Placeholder } from './loading.tsx';
import { GrayLine, GrayLines, Repeat } from './pending-lines.tsx';
import timeline from './timeline.module.css';

/** As many sections as a laptop's window shows. */
const FORM_SECTIONS = 3;

/** The shape of a page's header. */
export interface GrayHeader {
  /** The number of lines below the title. */
  lines?: number;
  /** The number of buttons, without the "…" menu. */
  buttons?: number;
}

/** The header of a page, without the link back. */
export function GrayHead({ lines = 1, buttons = 1 }: GrayHeader) {
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mb="lg">
      <Stack gap={4} miw={0} style={{ flex: '1 1 240px' }}>
        <GrayLine width="min(220px, 60%)" height={28} />
        {lines > 0 && <GrayLines count={lines} gap={4} />}
        {/* On a phone, the last line usually wraps. */}
        {lines > 0 && (
          <Box hiddenFrom="sm" mt={-4}>
            <GrayLines count={1} />
          </Box>
        )}
      </Stack>
      {buttons > 0 && (
        <Group gap="xs" className="page-actions">
          <Repeat count={buttons}>
            <Button disabled w={{ sm: 96 }} />
          </Repeat>
        </Group>
      )}
    </Group>
  );
}

/** A row of tabs. `mb` is the space below it, as in `Tabs.List`. */
export function GrayTabs({ count, mb = 24 }: { count: number; mb?: number | string }) {
  return (
    <Box className="nav-tabs" h={37} mb={mb} style={{ alignItems: 'center' }}>
      <Repeat count={count}>
        <GrayLine width={52} />
      </Repeat>
    </Box>
  );
}

/** Statistics side by side, each with a name, a number and, if `hasDetail` is set, a line below the number. */
export function GrayStats({ count, hasDetail = false }: { count: number; hasDetail?: boolean }) {
  return (
    <div className="stats">
      <Repeat count={count}>
        <Box display="grid">
          <GrayLine width="60%" height={16} />
          <GrayLine width="44%" height={32} />
          {hasDetail && <GrayLine width="70%" height={16} />}
        </Box>
      </Repeat>
    </div>
  );
}

/** A gray area in place of an image, a chart or an email. `height` is in pixels. */
export function GrayBlock({ height, width }: { height: number; width?: number | string }) {
  return (
    <Box h={height} w={width} maw="100%" bg="var(--color-sunken)" style={{ borderRadius: 'var(--radius-card)' }} />
  );
}

/** A card with a title, the statistics in `children`, and lines of text or an area below them. */
export function GrayCard({
  lines = 0,
  gap,
  area,
  children,
}: {
  lines?: number;
  /** The space between the lines, in pixels. */
  gap?: number;
  /** The height in pixels of an area below the statistics, such as a chart. */
  area?: number;
  children?: ReactNode;
}) {
  return (
    <Paper withBorder style={{ overflow: 'hidden' }}>
      <div className="card-head">
        <GrayLine width="min(140px, 40%)" height={20} />
      </div>
      {children}
      {(lines > 0 || area !== undefined) && (
        <div className="card-block">
          {lines > 0 && <GrayLines count={lines} {...(gap !== undefined && { gap })} />}
          {area !== undefined && <GrayBlock height={area} />}
        </div>
      )}
    </Paper>
  );
}

/** A timeline with its title. Each entry has a name and, if `hasDetails` is set, a line of details below it. */
export function GrayTimeline({ entries, hasDetails = false }: { entries: number; hasDetails?: boolean }) {
  return (
    <div>
      <Box display="grid" mb="sm">
        <GrayLine width={90} height={20} />
      </Box>
      <ol className={timeline.timeline}>
        <Repeat count={entries}>
          <li>
            <GrayLine width={110} />
            {hasDetails && (
              <div className={timeline.detail}>
                <GrayLine width="50%" height={16} />
              </div>
            )}
          </li>
        </Repeat>
      </ol>
    </div>
  );
}

/** Shows the gray sections of a long form: a title and a purpose on the left, and two fields on the right. */
export function PendingForm() {
  return (
    <Placeholder>
      <GrayForm sections={FORM_SECTIONS} />
    </Placeholder>
  );
}

/** The placeholder of a long form as it looks. */
export function GrayForm({ sections }: { sections: number }) {
  return (
    <div className="gray-form">
      <Repeat count={sections}>
        <div className="form-section">
          <div>
            <GrayLine width="min(140px, 40%)" height={20} />
            <GrayLines count={2} gap={0} />
          </div>
          <Stack maw={560}>
            <Repeat count={2}>
              <div>
                <GrayLine width={96} height={20} />
                <GrayBlock height={36} />
              </div>
            </Repeat>
          </Stack>
        </div>
      </Repeat>
    </div>
  );
}

/** The record on the left, and its details on the right of a wide screen. */
export function GrayColumns({ aside, children }: { aside: ReactNode; children: ReactNode }) {
  return (
    <Grid gutter="lg">
      <Grid.Col span={{ base: 12, md: 7.5 }}>
        <Stack gap="lg">{children}</Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4.5 }}>
        <Stack gap="lg">{aside}</Stack>
      </Grid.Col>
    </Grid>
  );
}
