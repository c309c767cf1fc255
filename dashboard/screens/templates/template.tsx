import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { EditorQuery } from '../../parts/editor-frame.tsx';
import { GrayEmailEditor } from '../../parts/email-editor/pending-email-editor.tsx';
import { BACK_TO_TEMPLATES, TemplateEditor } from './template-editor.tsx';

/** One template in the editor. */
export function TemplateScreen() {
  const { templateId } = useParams({ from: '/shell/templates/$templateId' });
  const template = useQuery(queryFor('getTemplate', { params: { id: templateId } }));
  return (
    <EditorQuery of={template} back={BACK_TO_TEMPLATES} pending={<GrayEmailEditor />}>
      {(saved) => <TemplateEditor key={templateId} saved={saved} />}
    </EditorQuery>
  );
}
