import { ActionIcon, Badge, Box, Card, Group, Menu, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCopy, IconDots, IconTrash } from '@tabler/icons-react';
import type { ItemOf } from '../../api/queries.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { useWhyNot } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { Instant } from '../../parts/instant.tsx';
import { draftKey, readKept } from '../../parts/record-edit/kept-drafts.ts';
import { tellDone, whenDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { RemoveTemplate } from './remove-template.tsx';
import { Thumbnail } from './thumbnail.tsx';
import { draftName } from './use-template-edit.ts';

/** A template in the list: thumbnail, name, and time of the last change. */
export function TemplateCard({ template }: { template: ItemOf<'listTemplates'> }) {
  const { id, name, subject, type, updatedAt } = template;
  const isUnsaved = readKept(draftKey(useSession(), draftName(id))) !== undefined;
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
            {subject}
          </Text>
        </Box>
        <CardMenu id={id} name={name} updatedAt={updatedAt} />
      </Group>
      <Group gap="xs" mt={6}>
        <Tooltip
          label={text.templates.typeMeans[type]}
          multiline
          maw={280}
          events={{ hover: true, focus: true, touch: true }}
        >
          <Badge variant="light" color={type === 'MARKETING' ? 'violet' : 'gray'} radius="sm" tt="none" tabIndex={0}>
            {type}
          </Badge>
        </Tooltip>
        {isUnsaved && (
          <Badge variant="light" color="yellow" radius="sm" tt="none">
            {text.templates.unsaved}
          </Badge>
        )}
        <Text size="xs" c="dimmed" component="span">
          <Instant at={updatedAt} />
        </Text>
      </Group>
    </Card>
  );
}

function CardMenu({ id, name, updatedAt }: { id: string; name: string; updatedAt: string }) {
  const [isRemoving, removing] = useDisclosure();
  const whyNot = useWhyNot('templates:edit');
  const duplicate = useWrite('duplicateTemplate', { changes: ['listTemplates'] });
  const copy = () => whenDone(duplicate.mutateAsync({ params: { id } }), () => tellDone(text.templates.duplicated));
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={text.templates.more(name.slice(0, 80))}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconCopy size={14} aria-hidden />} onClick={copy} disabled={whyNot !== undefined}>
            {text.templates.duplicate}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconTrash size={14} aria-hidden />}
            color="red"
            onClick={removing.open}
            disabled={whyNot !== undefined}
          >
            {text.templates.remove}
          </Menu.Item>
          {whyNot !== undefined && <Menu.Label maw={220}>{whyNot}</Menu.Label>}
        </Menu.Dropdown>
      </Menu>
      <RemoveTemplate id={id} name={name} updatedAt={updatedAt} opened={isRemoving} onClose={removing.close} />
    </>
  );
}
