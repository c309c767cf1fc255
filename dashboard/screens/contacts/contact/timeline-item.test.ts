import { expect, it } from 'vitest';
import { describeActor } from './describe-actor.ts';
import { toTimelineLine } from './timeline-item.ts';

it('an email links to itself, and names its cause', () => {
  const metadata = { emailId: 'm1', subject: 'Hello', campaignId: 'c1', campaignName: 'Spring', executionId: null };
  expect(toTimelineLine({ type: 'email.opened', metadata })).toEqual({
    title: 'Email opened: Hello',
    to: '/messages/m1',
    words: [],
    cause: { label: 'Spring', to: '/campaigns/c1' },
  });
  const ofWorkflow = { emailId: 'm2', campaignId: null, executionId: 'x', workflowId: 'w1', workflowName: 'Welcome' };
  expect(toTimelineLine({ type: 'email.failed', metadata: { ...ofWorkflow, reason: 'unsubscribed' } })).toEqual({
    title: 'Email not sent: without a subject',
    to: '/messages/m2',
    words: [{ kind: 'reason', value: 'unsubscribed' }],
    cause: { label: 'Welcome', to: '/messages/executions/w1/x' },
  });
});

it('describes a step, a change and an unknown type', () => {
  const step = {
    stepName: 'A day',
    stepType: 'DELAY',
    workflowName: 'Welcome',
    workflowId: 'w',
    executionId: 'x',
    status: 'WAITING',
  };
  expect(toTimelineLine({ type: 'workflow.step', metadata: step })).toMatchObject({
    title: 'A day · Welcome',
    words: [
      { kind: 'step', value: 'DELAY' },
      { kind: 'execution', value: 'WAITING' },
    ],
  });
  expect(toTimelineLine({ type: 'contact.unsubscribed', metadata: { reason: 'own_choice' } })).toEqual({
    title: 'Unsubscribed',
    words: [{ kind: 'change', value: 'own_choice' }],
  });
  expect(toTimelineLine({ type: 'new.type', metadata: {} }).title).toContain('new.type');
});

it('names the actor if known, else the kind of actor', () => {
  expect(describeActor('user:1', 'ada@to.test')).toBe('ada@to.test');
  expect(describeActor('key:1', 'Shop')).toBe('the API key Shop');
  expect(describeActor('key:1', null)).toBe('a deleted API key');
  expect(describeActor('contact', null)).toBe('the contact');
  expect(describeActor('ses', null)).toBe('Amazon SES');
  expect(describeActor(null, null)).toBe('unknown');
});
