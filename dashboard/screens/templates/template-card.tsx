import { Box, Card, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCopy, IconTrash } from '@tabler/icons-react';
import type { ItemOf } from '../../api/queries.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Thumbnail } from '../../parts/email-editor/thumbnail.tsx';
import { Instant } from '../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { createDraftKey, readStoredDraft } from '../../parts/record-edit/stored-drafts.ts';
import { Status, Tag } from '../../parts/status.tsx';
import { withoutLiquid } from '../../parts/without-liquid.ts';
import { text } from '../../text/text.ts';
import { RemoveTemplate } from './remove-template.tsx';
import { getDraftName } from './use-template-edit.ts';

/** A template in the list: thumbnail, name, and time of the last change. */
export function TemplateCard({ template }: { template: ItemOf<'listTemplates'> }) {
  const { id, name, subject, type, updatedAt } = template;
  const isUnsaved = readStoredDraft(createDraftKey(useSession(), getDraftName(id))) !== undefined;
  return (
    <Card component="li" withBorder padding="sm">
      <Card.Section withBorder>
        <Thumbnail template={template} />
      </Card.Section>
      <Group justify="space-between" wrap="nowrap" mt="sm" gap={4} align="flex-start">
        <Box miw={0}>
          <AppLink to={`/templates/${id}`} fw={600} lineClamp={2}>
            {name}
          </AppLink>
          <Text size="sm" c="dimmed" lineClamp={1}>
            {withoutLiquid(subject)}
          </Text>
        </Box>
        <CardMenu id={id} name={name} updatedAt={updatedAt} />
      </Group>
      <Group gap="xs" mt={6}>
        <Tag means={text.templates.typeMeans[type]}>{text.templates.types[type]}</Tag>
        {isUnsaved && <Status tone="waiting">{text.templates.unsaved}</Status>}
        <Text size="xs" c="dimmed" component="span" className="when">
          <Instant at={updatedAt} />
        </Text>
      </Group>
    </Card>
  );
}

function CardMenu({ id, name, updatedAt }: { id: string; name: string; updatedAt: string }) {
  const [isRemoveOpen, removeDialog] = useDisclosure();
  const duplicate = useWrite('duplicateTemplate', { changes: ['listTemplates'] });
  const copy = () =>
    runAfterWrite(duplicate.mutateAsync({ params: { id } }), () => notifySuccess(text.templates.duplicated));
  return (
    <>
      <MoreMenu of={name}>
        <MoreItem icon={IconCopy} needs="templates:edit" onClick={copy}>
          {text.templates.duplicate}
        </MoreItem>
        <MoreItem icon={IconTrash} needs="templates:edit" isDestructive onClick={removeDialog.open}>
          {text.templates.remove}
        </MoreItem>
      </MoreMenu>
      <RemoveTemplate id={id} name={name} updatedAt={updatedAt} opened={isRemoveOpen} onClose={removeDialog.close} />
    </>
  );
}
