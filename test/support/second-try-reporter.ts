import type { Reporter, TestCase } from 'vitest/node';

/**
 * Names tests that failed and then passed. `npm test -- --all` retries a failed test once, so that one race among
 * thousands of tests does not block a change. Each named test indicates a bug in the product or in the test.
 */
export default class SecondTryReporter implements Reporter {
  private readonly lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const [error] = test.result().errors ?? [];
    this.lines.push(`  ${test.module.relativeModuleId} > ${test.fullName}: ${error?.message.split('\n')[0] ?? ''}`);
  }

  onTestRunEnd(): void {
    if (this.lines.length > 0)
      console.log(['\nPassed at the second try only; find out why:', ...this.lines].join('\n'));
  }
}
