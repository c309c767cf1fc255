import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { TemplateEditor } from './template-editor.tsx';

/** One template in the editor. */
export function TemplateScreen() {
  const { templateId } = useParams({ from: '/shell/templates/$templateId' });
  const template = useQuery(queryFor('getTemplate', { params: { id: templateId } }));
  return (
    <QueryView of={template} height={600}>
      {(saved) => <TemplateEditor key={templateId} saved={saved} />}
    </QueryView>
  );
}
