import { expect, it } from 'vitest';
import { classifyRefusal } from './refusal.ts';
import { chooseSimulation, createSimulatedBounce, isSimulatorAddress, SIMULATED_REPLIES } from './simulator.ts';

it('recognizes the addresses of the simulator in any case and with any tag', () => {
  expect(isSimulatorAddress('bounce@simulator.test')).toBe(true);
  expect(isSimulatorAddress('Bounce+1@Simulator.TEST')).toBe(true);
  expect(isSimulatorAddress('bounce@mail.simulator.test')).toBe(false);
  expect(isSimulatorAddress('bounce@notsimulator.test')).toBe(false);
  expect(isSimulatorAddress('simulator.test@example.com')).toBe(false);
});

it('gives the outcome of each address, with tags and without', () => {
  const describeSimulation = (email: string, attempts = 1) => {
    const { answer, steps } = chooseSimulation(email, attempts);
    return [answer, ...steps.map(({ what }) => what)].join(' ');
  };
  expect(describeSimulation('delivered@simulator.test')).toBe('accepted delivery');
  expect(describeSimulation('BOUNCE+a+b@simulator.test')).toBe('accepted bounce');
  expect(describeSimulation('softbounce+1@simulator.test')).toBe('accepted softbounce');
  expect(describeSimulation('complaint@simulator.test')).toBe('accepted delivery complaint');
  expect(describeSimulation('open+x@simulator.test')).toBe('accepted delivery open');
  expect(describeSimulation('click@simulator.test')).toBe('accepted delivery open click');
  expect(describeSimulation('reject+1@simulator.test')).toBe('refused');
  expect(describeSimulation('defer@simulator.test')).toBe('put_off');
  expect(describeSimulation('defer@simulator.test', 2)).toBe('accepted delivery');
  expect(describeSimulation('constructor@simulator.test')).toBe('accepted delivery');
  expect(chooseSimulation('slow@simulator.test', 1).steps).toEqual([{ what: 'delivery', afterMs: 10_000 }]);
});

it('replies like servers: rejects the message, defers, and returns email for a dead and for a full mailbox', () => {
  expect(classifyRefusal(SIMULATED_REPLIES.refused)).toEqual({ about: 'message', retry: false });
  expect(classifyRefusal(SIMULATED_REPLIES.put_off)).toMatchObject({ retry: true });
  expect(createSimulatedBounce('bounce').refusal).toMatchObject({ about: 'recipient', why: 'dead_mailbox' });
  expect(createSimulatedBounce('softbounce').refusal).toMatchObject({
    about: 'recipient',
    why: 'mailbox_for_now',
    bounceType: 'Transient',
  });
});
