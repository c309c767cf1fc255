import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { Answer } from '../../parts/answer.tsx';
import { TemplateEditor } from './template-editor.tsx';

/** One template, to be written on. */
export function TemplateScreen() {
  const { templateId } = useParams({ from: '/shell/templates/$templateId' });
  const template = useQuery(queryFor('getTemplate', { params: { id: templateId } }));
  return (
    <Answer of={template} height={600}>
      {(saved) => <TemplateEditor key={templateId} saved={saved} />}
    </Answer>
  );
}
