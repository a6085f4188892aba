import { expect, test } from 'vitest';
import { termsOf } from '../../../platform/text/index.ts';
import { PROBE } from './terms-version.ts';

// Snapshots keep terms. They are refused by themselves when these differ. Where texts are cut differently and these do not
// show it, extend PROBE by a text that does, or raise the VERSION in snapshot-folder.ts.
test('the probe shows how texts are cut into terms', () => {
  expect(termsOf(PROBE).join(' ')).toBe(
    'connect connect happili get order statu v2 0 abc12 find naïve ключи don t éte 查询 询北 北京 京天 天气 ' +
      '東京 京タ タワ ワー 한국어 क्षेत्र a1b2 x',
  );
});
