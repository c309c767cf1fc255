import { Card, FileButton, Group, Image, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPhoto, IconTrash, IconUpload } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ItemOf, infiniteQueryFor, useWrite } from '../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useImageUpload } from '../../parts/email-editor/use-image-upload.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failed } from '../../parts/failed.tsx';
import { formatBytes } from '../../parts/format-bytes.ts';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { PageFoot } from '../../parts/page-foot.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { PendingCards } from '../../parts/pending-cards.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';

const PAGE = 40;
const HEIGHT = 120;
const COLS = { base: 1, xs: 2, md: 4 };
const SHOWN = { all: undefined, used: true, unused: false } as const;

/** The images of emails, each with its uses. The filter (all, used or unused) is in the URL. */
export function Images() {
  const { used } = useSearch({ from: '/shell/templates/pictures' });
  const navigate = useNavigate({ from: '/templates/pictures' });
  const pages = useInfiniteQuery(
    infiniteQueryFor('listAssets', { query: { limit: PAGE, ...(used !== undefined && { used }) } }),
  );
  const [first] = pages.data?.pages ?? [];
  const rows = pages.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <PageHead
        title={text.templates.images}
        subtitle={first && text.templates.imagesHelp(formatBytes(first.bytes), formatBytes(first.maxBytes))}
        back={{ to: '/templates', label: text.templates.title }}
        actions={<Upload />}
      />
      <SegmentedControl
        mb="md"
        size="xs"
        aria-label={text.templates.imagesFilter}
        value={used === undefined ? 'all' : used ? 'used' : 'unused'}
        onChange={(value) => {
          const filter = SHOWN[value as keyof typeof SHOWN];
          void navigate({ search: filter === undefined ? {} : { used: filter }, replace: true });
        }}
        data={[
          { value: 'all', label: text.templates.imagesAll },
          { value: 'used', label: text.templates.imagesUsed },
          { value: 'unused', label: text.templates.imagesUnused },
        ]}
      />
      {pages.isPending && <PendingCards cols={COLS} imageHeight={HEIGHT} />}
      {!pages.isPending && !pages.data && <Failed error={pages.error} retry={() => void pages.refetch()} />}
      {pages.data && rows.length === 0 && used === undefined && (
        <Empty
          icon={IconPhoto}
          title={text.templates.imagesEmpty}
          what={text.templates.imagesEmptyHelp}
          curl={{ method: 'GET', path: '/v1/assets' }}
        />
      )}
      {pages.data && rows.length === 0 && used !== undefined && (
        <Text c="dimmed">{used ? text.templates.imagesEmpty : text.templates.imagesNoneUnused}</Text>
      )}
      <SimpleGrid cols={COLS} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {rows.map((image) => (
          <ImageCard key={image.id} image={image} />
        ))}
      </SimpleGrid>
      {rows.length > 0 && <PageFoot pages={pages} shown={rows.length} total={pages.data?.pages[0]?.total} />}
    </>
  );
}

function Upload() {
  const { upload, isUploading } = useImageUpload();
  const whyNot = useMissingPermissionText('templates:edit');
  return (
    <FileButton
      accept="image/png,image/jpeg,image/gif,image/webp"
      multiple
      onChange={(files) => upload(files, () => {})}
      disabled={whyNot !== undefined}
    >
      {({ onClick }) => (
        <ActionButton
          needs="templates:edit"
          onClick={onClick}
          loading={isUploading}
          leftSection={<IconUpload size={16} aria-hidden />}
        >
          {text.templates.uploadImages}
        </ActionButton>
      )}
    </FileButton>
  );
}

function ImageCard({ image }: { image: ItemOf<'listAssets'> }) {
  const { id, url, hash, filename, width, height, bytes, used, usedBy } = image;
  const [isRemoveOpen, removeDialog] = useDisclosure();
  const remove = useWrite('deleteAsset', { changes: ['listAssets'] });
  const name = filename ?? text.templates.imageNoName;
  const shownBy = text.templates.imageUsed(usedBy.templates, usedBy.campaigns, usedBy.sent);
  return (
    <Card component="li" withBorder padding="sm">
      <Card.Section withBorder>
        <Image src={`/assets/${hash}`} h={HEIGHT} fit="contain" loading="lazy" alt={name} bg="var(--color-sunken)" />
      </Card.Section>
      <Text size="sm" mt="xs" lineClamp={1} title={name}>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        {width} × {height} px, {formatBytes(bytes)}
      </Text>
      <Group justify="space-between" mt={6} gap="xs" wrap="nowrap">
        <Status tone={used ? 'done' : 'idle'}>{used ? shownBy : text.templates.imageUnused}</Status>
        <Group gap={2} wrap="nowrap">
          <CopyButton value={url} label={text.templates.imageCopy} />
          <MoreMenu of={name}>
            <MoreItem icon={IconTrash} needs="templates:edit" isDestructive onClick={removeDialog.open}>
              {text.templates.imageRemove}
            </MoreItem>
          </MoreMenu>
        </Group>
      </Group>
      <ConfirmTyped
        opened={isRemoveOpen}
        onClose={removeDialog.close}
        title={text.templates.imageRemoveTitle}
        what={used ? text.templates.imageRemoveUsed(shownBy) : text.templates.imageRemoveUnused}
        word={text.templates.imageWord}
        action={text.templates.imageRemove}
        write={remove}
        onConfirm={() =>
          remove.mutate(
            { params: { id }, query: used ? { force: true } : {} },
            {
              onSuccess: () => {
                notifySuccess(text.templates.imageRemoved);
                removeDialog.close();
              },
            },
          )
        }
      />
    </Card>
  );
}
