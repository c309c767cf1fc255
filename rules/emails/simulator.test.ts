import { expect, it } from 'vitest';
import { classifyRefusal } from './refusal.ts';
import { isSimulatorAddress, SIMULATED_REPLIES, simulatedBounce, simulationOf } from './simulator.ts';

it('recognizes the addresses of the simulator in any case and with any tag', () => {
  expect(isSimulatorAddress('bounce@simulator.test')).toBe(true);
  expect(isSimulatorAddress('Bounce+1@Simulator.TEST')).toBe(true);
  expect(isSimulatorAddress('bounce@mail.simulator.test')).toBe(false);
  expect(isSimulatorAddress('bounce@notsimulator.test')).toBe(false);
  expect(isSimulatorAddress('simulator.test@example.com')).toBe(false);
});

it('gives the outcome of each address, with tags and without', () => {
  const whatOf = (email: string, attempts = 1) => {
    const { answer, steps } = simulationOf(email, attempts);
    return [answer, ...steps.map(({ what }) => what)].join(' ');
  };
  expect(whatOf('delivered@simulator.test')).toBe('accepted delivery');
  expect(whatOf('BOUNCE+a+b@simulator.test')).toBe('accepted bounce');
  expect(whatOf('softbounce+1@simulator.test')).toBe('accepted softbounce');
  expect(whatOf('complaint@simulator.test')).toBe('accepted delivery complaint');
  expect(whatOf('open+x@simulator.test')).toBe('accepted delivery open');
  expect(whatOf('click@simulator.test')).toBe('accepted delivery open click');
  expect(whatOf('reject+1@simulator.test')).toBe('refused');
  expect(whatOf('defer@simulator.test')).toBe('put_off');
  expect(whatOf('defer@simulator.test', 2)).toBe('accepted delivery');
  expect(whatOf('constructor@simulator.test')).toBe('accepted delivery');
  expect(simulationOf('slow@simulator.test', 1).steps).toEqual([{ what: 'delivery', afterMs: 10_000 }]);
});

it('replies like servers: rejects the message, defers, and returns email for a dead and for a full mailbox', () => {
  expect(classifyRefusal(SIMULATED_REPLIES.refused)).toEqual({ about: 'message', retry: false });
  expect(classifyRefusal(SIMULATED_REPLIES.put_off)).toMatchObject({ retry: true });
  expect(simulatedBounce('bounce').refusal).toMatchObject({ about: 'recipient', why: 'dead_mailbox' });
  expect(simulatedBounce('softbounce').refusal).toMatchObject({
    about: 'recipient',
    why: 'mailbox_for_now',
    bounceType: 'Transient',
  });
});
