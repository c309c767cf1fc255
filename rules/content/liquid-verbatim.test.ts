import { expect, it } from 'vitest';
import { markTrusted } from '../provenance/provenance.ts';
import { compileContent, renderContent } from './content.ts';
import { toVerbatimTemplate } from './liquid-verbatim.ts';

it('renders any text exactly as written', () => {
  for (const text of ['plain', '{{name}}', '{{{x}}} {% if %}', '{%endraw%} {{', '{{{{{%', "it's {{ 'so' | raw }}"]) {
    const html = `<p title="{{a}}">${text}</p>`;
    const parts = { subject: toVerbatimTemplate(text), body: toVerbatimTemplate(html) };
    const compiled = compileContent({ ...parts, type: 'TRANSACTIONAL', trackOpens: false, trackClicks: false });
    const urls = { baseUrl: 'https://mail.example.com', track: 'a'.repeat(43), manage: 'b'.repeat(43) };
    const rendered = renderContent(compiled, markTrusted({ name: 'Ada' }), urls);
    expect(rendered.subject).toBe(text);
    expect(rendered.html).toBe(html);
  }
});
