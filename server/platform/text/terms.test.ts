import { expect, test } from 'vitest';
import { termsOf } from './terms.ts';

test.each([
  ['Connected connections, CONNECTING!', ['connect', 'connect', 'connect']],
  ['查询北京天气', ['查询', '询北', '北京', '京天', '天气']],
  ['查 weather 雨', ['查', 'weather', '雨']],
  ['ＡＢＣ１２ ﬁnd', ['abc12', 'find']],
  ['get_order-status', ['get', 'order', 'statu']],
  ['naïve ключ 42', ['naïve', 'ключ', '42']],
  ['iPhone手机有64GB内存', ['iphon', '手机', '机有', '64gb', '内存']],
  ['東京タワー', ['東京', '京タ', 'タワ', 'ワー']],
  ['', []],
  ['\u0000 \ud800 --', []],
])('the terms of %j', (text, terms) => {
  expect(termsOf(text)).toEqual(terms);
});
