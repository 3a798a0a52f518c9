# Simplified Chinese. The id of a message is its English text: letters and digits, joined by "-"; one that begins with a digit has "n-"
# in front. A test holds this file against the sources: no text without a message, no message without a text.

## Where keys hold, and the pages of the menu

in-the-chain = 在思维链中
in-a-chart = 在图表中
in-a-list = 在列表中
on-checkpoints = 在检查点界面
on-alerts = 在告警界面
run-pause-step = 运行：暂停、单步
replay = 回放
screens = 界面
move-up-down = 移动：上、下
find-errors-marks = 查找、错误、标记
size-folds-detail = 大小、折叠、详略
curves = 曲线
alerts-see-to-silence = 告警：处理、静默
swap-compare-copy = 切换、对比、复制
help-stops-quit = 帮助、断点、退出

## What each action does

keys-and-commands-enter-runs-one = 按键和命令一览；enter 执行所选项
type-a-command-by-its-name = 输入命令名
find-an-action-by-a-few-letters-of-it = 用几个字母查找操作
screen-the-run-as-it-goes = 界面：实时运行
screen-episodes-step-by-step-with-a-timeline = 界面：逐步查看回合，带时间线
screen-checkpoints-compared-and-served = 界面：检查点的对比与上线
screen-alert-rules-and-what-fires = 界面：告警规则与触发情况
screen-curves-and-evaluations-of-training = 界面：训练曲线与评估
screen-what-the-agent-sees-keeps-and-forgets = 界面：智能体看到、记住和遗忘的内容
screen-the-log = 界面：日志
pause-or-resume-at-the-end-of-a-replay-play-it-again = 暂停或继续；回放到末尾时从头播放
go-on-by-one-decision = 前进一个决策
go-on-by-one-phase = 前进一个阶段
go-on-by-one-token = 前进一个 token
go-on-to-the-end-of-the-episode = 前进到回合结束
step-back-by-one-decision = 后退一个决策
slower-down-to-0-1x = 减速，最低 0.1x
faster-up-to-max = 加速，最高 max
previous-step = 上一步
next-step = 下一步
previous-episode = 上一回合
next-episode = 下一回合
beginning-of-the-recording = 录制的开头
end-of-the-recording = 录制的末尾
focus-the-next-pane = 焦点移到下一窗格
focus-the-previous-pane = 焦点移到上一窗格
focus-pane-1-live-thought-chain = 焦点移到窗格 1（实时：思维链）
focus-pane-2-live-reward-curves = 焦点移到窗格 2（实时：奖励曲线）
focus-pane-3-live-tools = 焦点移到窗格 3（实时：工具）
focus-pane-4-live-GPU-and-host = 焦点移到窗格 4（实时：GPU 与主机）
focus-pane-5-live-alerts = 焦点移到窗格 5（实时：告警）
focus-pane-6-live-log = 焦点移到窗格 6（实时：日志）
open-the-chosen-row = 打开所选行
the-focused-pane-alone-and-back = 焦点窗格全屏，再按还原
the-focused-pane-bigger-half-the-screen-then-all-of-it = 放大焦点窗格：先占半屏，再占全屏
the-focused-pane-smaller-again = 缩小焦点窗格
scroll-up-following-stops = 向上滚动；停止跟随
scroll-down = 向下滚动
a-page-up = 上翻一页
a-page-down = 下翻一页
the-oldest-row = 最旧一行
the-newest-row-and-follow = 最新一行，并跟随
look-at-the-next-lane-or-at-the-one-that-is-named = 查看下一个或指定的 lane
find-text-in-the-chain-the-newest-match-first = 在思维链中查找；最新匹配在前
next-match-then-the-oldest-again = 下一处匹配，到头后从最旧的开始
previous-match = 上一处匹配
previous-tool-error-in-the-chain = 思维链中的上一个工具错误
next-tool-error-in-the-chain = 思维链中的下一个工具错误
mark-this-place-or-take-its-mark-away = 标记此处，或取消标记
previous-mark-in-a-replay-go-there-in-the-recording = 上一个标记（回放时跳到录制中该处）
next-mark = 下一个标记
list-of-episodes = 回合列表
inspect-the-state-at-this-step = 查看这一步的状态
watch-what-an-expression-CEL-comes-to-empty-lists-what-is-watched = 监视表达式 (CEL) 的值；留空则列出监视的表达式
breakpoint-at-this-step-or-take-it-away = 在这一步设断点，或取消
stop-where-this-condition-CEL-or-preset-holds-with-once-log-ignore-N-behind-it = 条件 (CEL) 或预设成立时停下；后面可写 `with once log ignore=N`
the-same-once = 同上，仅一次
list-the-breakpoints-or-take-them-away = 列出断点，或将其取消
run-to-the-next-stop = 运行到下一个断点
run-back-to-the-previous-stop = 倒回到上一个断点
fold-or-unfold-the-row-at-the-cursor-while-following-the-newest = 折叠或展开光标所在行；跟随时为最新一行
fold-every-row = 折叠所有行
unfold-every-row = 展开所有行
one-line-a-row-normal-everything = 每行一条、常规、全部
what-the-model-reads-and-writes-as-it-is = 模型读写的原文
mark-tokens-by-surprise-entropy-and-what-else-the-recording-has-of-them = 按意外度、熵及录制中的其他数值标注 token
smooth-the-curve-less = 曲线平滑减弱
smooth-the-curve-more = 曲线平滑增强
logarithmic-axis-of-the-curve-and-back = 曲线用对数轴，再按还原
by-step-by-time-since-the-start-by-the-clock = 按步、按开始后的时间、按时钟
cursor-with-the-values-under-it-and-away-again = 光标及其所在处的值，再按取消
cursor-or-what-is-seen-to-the-left = 光标或视窗左移
cursor-or-what-is-seen-to-the-right = 光标或视窗右移
see-less-of-the-curve-larger = 曲线放大，范围变小
see-more-of-the-curve = 曲线范围变大
show-these-curves-in-one-chart-such-as-return-hybrid-up-and-down-go-through-them-one-by-one = 在一张图中显示这些曲线，如 return,hybrid（上下键逐条切换）
sort-the-list-by-the-next-column = 按下一列排序
show-only-rows-of-the-focused-list-that-hold-this-such-as-fail-or-ret-0-2-empty-shows-all = 只显示焦点列表中包含此内容的行，如 fail 或 ret<0.2；留空则全部显示
mark-for-the-comparison = 标记以供对比
compare-the-two-that-are-marked-seed-by-seed = 逐种子对比已标记的两个
evaluate-the-chosen-one-on-held-out-seeds = 用留出种子评估所选检查点
stop-evaluating-comparing-and-verifying-on-checkpoints-esc-does-it-too = 停止评估、对比和校验；在检查点界面按 esc 亦可
verify-the-chosen-one-s-checksums-and-fingerprint = 校验所选检查点的校验和与指纹
serve-the-chosen-one-from-the-next-decision-on-typed = 从下一个决策起让所选检查点上线（需键入确认）
keep-the-chosen-one-from-being-pruned = 保留所选检查点，不被清理
give-the-chosen-one-a-share-of-the-episodes = 把一部分回合交给所选检查点
serve-the-one-before-again = 让上一个检查点重新上线
end-the-canary = 结束金丝雀发布
take-the-last-swap-back-within-ten-minutes = 撤销上次切换（十分钟内）
actions-by-digits-0-opens-it-on-small-screens-and-on-a-live-run = 数字菜单；小屏幕和实时运行时按 0 打开
copy-the-row-in-view-to-the-clipboard = 把当前行复制到剪贴板
copy-the-row-in-view-as-JSON = 把当前行以 JSON 复制
draw-everything-again = 全部重绘
back-to-the-shell-fg-comes-back = 回到 shell；fg 返回
close-what-is-open = 关闭打开的内容
quit-asks-when-that-ends-a-run = 退出（会结束运行时先询问）
pause-the-run-or-the-replay = 暂停运行或回放
resume-the-run-or-the-replay = 继续运行或回放
set-the-pace-such-as-2-or-max = 设置速度，如 2 或 max
end-the-episodes-that-run-and-begin-anew-from-this-seed-asks-first = 结束进行中的回合，并从此种子重新开始（先询问）
serve-another-checkpoint-from-the-next-decision-on-asks-first = 从下一个决策起让另一个检查点上线（先询问）
go-there-1200-3-12-12-41-8s-or-1-23-of-the-episode = 跳到该处：@1200、3/12、12、41.8s 或 1:23（回合内时间）
auto-dark-light-high-contrast-colour-blind-system-or-a-file-read-again-when-saved = auto、dark、light、high-contrast、colour-blind、system 或一个文件；文件保存后重新读取
show-fewer-colours-or-more = 减少或增加颜色
write-what-the-focused-pane-shows-to-a-new-file-JSON-one-record-a-line = 把焦点窗格的内容写入新文件（JSON：每行一条）
write-a-picture-of-the-screen-to-a-file = 把屏幕画面写入文件

## Titles of panes

Thought-chain = 思维链
Reward = 奖励
Tools = 工具
GPU = GPU
Alerts = 告警
Log = 日志
Memory-and-state = 记忆与状态
Transcript = 轨迹
Episodes = 回合
State = 状态
Timeline = 时间线
Checkpoints = 检查点
Compare = 对比
Rollout = 上线
Rules = 规则
Rule = 规则详情
Silences = 静默
Curves = 曲线
Vital-signs = 关键指标
Evaluations = 评估
Prompt = 提示词
Compressed-memory = 压缩记忆
Request-and-response = 请求与响应

## actions

name-needs-a-live-run-this-is-a-recording = { $name } 需要实时运行；这是录制
name-is-not-for-a-read-only-view = { $name } 不能用于只读视图
name-needs-a-recording-this-run-is-live = { $name } 需要录制；这是实时运行
name-is-not-built-yet = { $name } 尚未实现
no-command-is-named-name-lists-all = 没有名为 { $name } 的命令；? 列出全部
no-command-is-named-name-did-you-mean-n = 没有名为 { $name } 的命令；是否要用 { $n }？
name-could-be-names = { $name } 可能是 { $names }

## app

read-keys-path-again = 已重新读取按键文件 { $path }
error-the-last-good-ones-stay = { $error }；保留上次有效的按键
there-are-100-pictures-of-this-event-already = 此事件已有 100 张图片
wrote-path = 已写入 { $path }

## app: hands

a-paste-confirms-nothing-type-it = 粘贴不能用来确认；请键入
pasted-text-is-not-taken-as-keys = 粘贴的文本不当作按键
the-run-goes-on = 运行继续
keys-does-nothing-help-lists-the-keys = { $keys } 没有作用；{ $help } 列出按键
no-verb = 已取消 { $verb }
typed-is-not-verb-name-esc-cancels = `{ $typed }` 不是 `{ $verb } { $name }`；esc 取消

## app: seats

opened = 已打开
opened-gl-goes-back-to-the-live-run-which-goes-on = 已打开；gl 回到实时运行，运行仍在继续
back-at-the-live-run = 已回到实时运行
id-not-verified-cancelled = { $id }：未校验：已取消
a-and-b-not-compared-cancelled = { $a } 与 { $b }：未对比：已取消
id-evaluation-cancelled-after-n-seeds = { $id }：评估在 { $n } 个种子后取消
in-the-live-run-told = 实时运行中：{ $told }
name-could-be-opened-now-ask-for-it-again-to-go-there = 现在可以打开 { $name }；再次选择即可前往
the-recording-can-t-be-read-on-error-back-at-the-live-run = 录制无法继续读取：{ $error }；已回到实时运行
tool-error-at-of-all = 第 { $at }/{ $all } 个工具错误
match-at-of-all-in-the-recording-at-event-seq = 录制中第 { $at }/{ $all } 处匹配，事件 { $seq }
stopped-at-bp-number-text-holds-at-event-seq = 停在断点 bp{ $number }：{ $text } 在事件 { $seq } 成立
episode-episode-has-steps-and-no-step-step = 回合 { $episode } 共 { $steps }，没有第 { $step } 步
the-recording-holds-no-episode-episode = 录制中没有回合 { $episode }
the-recording-holds-no-episode-episode-of-lane-lane = 录制的通道 { $lane } 中没有回合 { $episode }
looking-for-it-in-the-recording-esc-gives-up = 正在录制中查找；esc 放弃
there-is-no-bp-number = 没有断点 bp{ $number }
bp-number-is-taken-away = 已取消断点 bp{ $number }
n-breakpoints-taken-away = 已取消 { $n } 个断点
nothing-is-watched-any-more = 已取消全部监视
no-breakpoint-is-set-b-sets-one-here-break-one-with-a-condition = 没有设置断点；b 在此处设断点，:break 设条件断点
watching-text-key-shows-it = 正在监视 { $text }；{ $key } 显示
number-is-no-number-of-a-watched-expression = `{ $number }` 不是监视表达式的编号
nothing-is-watched-write-an-expression-such-as-watch-reward-sum = 没有监视任何表达式；请写一个，例如 :watch reward_sum
watch-delete-N-takes-one-away-watch-clear-all = :watch delete N 取消一个，:watch clear 取消全部
Watched = 监视
n-a-read-of-end-events-read = n/a（已读 { $read } / { $end } 个事件）
n-a-no-event-had-it-so-far = n/a（尚无事件给出）
value-since-event-seq = { $value }，自事件 { $seq } 起
there-is-no-watch-number = 没有监视 { $number }
watch-number-is-taken-away = 已取消监视 { $number }
watch-text-value = 监视    { $text }：{ $value }
bp-number-text-c-runs-there-C-back = 断点 bp{ $number }：{ $text }；c 运行到该处，C 倒回
no-breakpoint-holds-after-this-the-whole-recording-was-read = 此后没有断点成立；已读完整个录制
no-breakpoint-holds-before-this = 此前没有断点成立
no-later-tool-error = 后面没有工具错误
no-earlier-tool-error = 前面没有工具错误
no-later-match-in-the-recording = 录制中后面没有匹配
too-many-to-know-those-behind-event-seq = ；数量过多，事件 { $seq } 之后的位置未知
no-earlier-match-in-the-recording = 录制中前面没有匹配
the-recording-does-not-hold-episode-episode-yet = 录制中还没有回合 { $episode }

## bench

id-checksums-and-fingerprint-are-what-its-manifest-says = { $id }：校验和与指纹与清单一致
id-is-BAD-reason = { $id } 已损坏：{ $reason }
id-not-evaluated-reason = { $id }：未评估：{ $reason }
id-evaluated-on-n-seeds = { $id }：已用 { $n } 个种子评估
compared-a-and-b-on-n-seeds = 已在 { $n } 个种子上对比 { $a } 与 { $b }

## chrome: dialogs

Quitting-ends-this-run-what-was-recorded-is-kept-y-quits-any-other-key-goes-on = 退出会结束本次运行；已录制的内容会保留。y 退出，其他键继续
Quit = 退出
Really-verb = 确定要 { $verb }？
Really-verb-on-banner = 确定要在 { $banner } 上 { $verb }？
type-verb-name-to-confirm-esc-cancels = 键入  { $verb } { $name }  以确认；esc 取消

## chrome: entries

no-key = 无按键

## chrome: help

nothing-found = 没有找到
n-of-all = { $n }/{ $all }
position-filter-enter-runs-esc-closes = { $position }  / 筛选  enter 执行  esc 关闭
Keys-and-commands = 按键与命令

## chrome: hints

menu = 菜单
new-here-help-shows-every-key-pause-pauses-step-steps-quit-quits = 第一次使用：{ $help } 列出所有按键，{ $pause } 暂停，{ $step } 单步，{ $quit } 退出
new-help-keys-pause-pause-quit-quit-0-menu = 新用户：{ $help } 按键，{ $pause } 暂停，{ $quit } 退出，0 菜单
pause = 暂停
cmd = 命令
next-pane = 下一窗格
mark = 标记
ep-before = 上一回合
ep-after = 下一回合
smooth = 平滑

## chrome: menu

n-0-back = 0 返回
n-0-close = 0 关闭

## chrome: palette

Palette = 命令面板

## copy

title-there-is-nothing-to-copy-yet = { $title }：还没有可复制的内容
copied-a-row-of-title-n-characters = 已复制{ $title }的一行：{ $n } 个字符
too-long-for-the-terminal-s-clipboard-and-there-is-no-state-directory-to-write-it-to = 超出终端剪贴板的长度，也没有可写入的状态目录
too-long-for-the-terminal-s-clipboard-and-path-is-full = 超出终端剪贴板的长度，而 { $path } 已满
too-long-for-the-terminal-s-clipboard-wrote-path = 超出终端剪贴板的长度；已写入 { $path }

## export

export-takes-csv-or-json-and-a-file-such-as-export-csv-rewards-csv = export 需要 csv 或 json 和一个文件，如：export csv rewards.csv
export-format-needs-a-file-such-as-export-format-rewards-format = export { $format } 需要一个文件，如：export { $format } rewards.{ $format }
title-there-is-nothing-to-export-yet = { $title }：还没有可导出的内容
wrote-records-of-title-to-path = 已把{ $title }的 { $records }写入 { $path }
path-is-there-already-and-is-left-as-it-is-name-another-file = { $path } 已存在，未改动；请换一个文件名
n-records = { $n } 条记录

## keymap: names

an-empty-text-is-no-key-write-to-unbind-an-action = 空文本不是按键；写 [] 可解除操作的绑定
text-is-a-sequence-of-n-keys-three-are-the-most = `{ $text }` 是 { $n } 个键的序列；最多三个
name-is-no-key-write-a-character-names-f1-to-f-last-or-one-of-them-behind-ctrl-or-alt-and-several-with-a-space-between-such-as-g-l = `{ $name }` 不是按键；请写一个字符、{ $names }、f1 到 f{ $last }，或在其前加 ctrl- 或 alt-，多个键之间用空格隔开，如 "g l"

## keymap: patch

not-valid-error-write-example = 格式有误：{ $error }；请写成 { $example }
name-stands-twice-keep-one = `{ $name }` 出现了两次；只留一个
keys-stands-twice-for-name-keep-one = `{ $name }` 的按键 `{ $keys }` 出现了两次；只留一个
name-must-keep-key-the-way-out-of-everything-add-it-to-its-keys = `{ $name }` 必须保留 `{ $key }`，这是退出一切的方式；请加到其按键中
keys-is-bound-to-first-and-to-second-take-it-from-one-of-them = `{ $keys }` 同时绑定到 { $first } 和 { $second }；请去掉其中一个
keys-of-name-begins-with-prefix-of-other-so-it-could-never-be-typed-change-one-of-them = `{ $name }` 的 `{ $keys }` 以 `{ $other }` 的 `{ $prefix }` 开头，因此永远无法键入；请改其中一个
in-the-console-lists-all = 控制台中的 `?` 列出全部
did-you-mean-near = 是否要用 `{ $near }`？
no-command-is-named-name-hint = 没有名为 `{ $name }` 的命令；{ $hint }
is-no-regular-file = 不是普通文件
has-n-bytes-which-no-file-of-keys-has-at-most-max-are-read = 有 { $n } 字节，按键文件不会这么大；最多读取 { $max }

## look

colours-name = 颜色：{ $name }
name-is-none-of-truecolor-256-16-none-auto = `{ $name }` 不是 truecolor、256、16、none、auto 之一
read-theme-name-again = 已重新读取主题 { $name }
error-the-last-good-one-stays = { $error }；保留上次有效的主题

## alerts

nothing-fires = 没有触发的告警
no-alert-rules-are-loaded-alerts-of-the-console-itself-such-as-a-recorder-that-fails-come-here = 未加载告警规则；控制台自身的告警（如录制失败）显示在这里

## chain

n-a-what-is-here-does-not-say-where-its-tokens-end = n/a：这里没有 token 的边界信息
tokens-as-they-are = token 不做标注
tokens-by-surprise-0-certain-9-from-4-5-nats-log-probability-4-5 = token 意外度：0 为确定，9 为 4.5 nats 以上（对数概率 -4.5）
tokens-by-entropy-0-certain-9-from-4-5-nats = token 熵：0 为确定，9 为 4.5 nats 以上
tokens-by-loss-mask-1-counts-in-the-loss-0-does-not = token 损失掩码：1 计入损失，0 不计
tokens-by-mismatch-of-trainer-and-sampler-0-agree-9-from-0-9-nats = token 训练与采样不一致：0 为一致，9 为 0.9 nats 以上
future = (未来)
follow = 跟随
follow-off-G-to-catch-up = 已停止跟随，G 回到最新
follow-off-n-new-G-to-catch-up = 已停止跟随，{ $n } 条新内容，G 回到最新
detail-brief = 详略 简略
detail-normal = 详略 常规
detail-full = 详略 全部
detail-as-the-model-reads-it = { $detail }，模型所读原文
memory-r-1 = 记忆 { $r }:1
no-match = 没有匹配
n-1-match = 1 处匹配
all-matches = { $all } 处匹配
at-of-all-matches = 第 { $at }/{ $all } 处匹配
the-policy-is-loading-detail = 策略正在加载：{ $detail }
the-policy-failed-detail = 策略加载失败：{ $detail }
waiting-for-the-first-decision = 等待第一个决策
n-tokens = { $n } token

## chain rows

mean-log-prob-logprob-mean-entropy-entropy-nats = 平均对数概率 { $logprob }  平均熵 { $entropy } nats
no-call = 没有调用
memory-emptied-before-tokens-held-nothing-to-keep = 记忆已清空：{ $before } token 中没有值得保留的内容
memory-compressed-before-after-tokens-ratio-1 = 记忆已压缩：{ $before } -> { $after } token ({ $ratio }:1)
X-ABORTED = X 已中止
S-SUCCESS = S 成功
F-FAILED-step-limit = F 失败（达到步数上限）
F-FAILED = F 失败
steps-return-sum-hybrid-hybrid-final-last = { $steps }  回报 { $sum }  混合 { $hybrid }  终局 { $last }
from-to-serves-from-here-on = { $from } -> { $to }：从这里起上线
streaming-rate = 生成中  { $rate }
memory-compressed = 记忆已压缩
format = 格式错误
unknown-tool = 未知工具
schema = 参数不符
refused = 被拒绝
rate-limited = 限流
timeout = 超时
failed = 失败
in-flight = 进行中
no-thought = (没有思考)
episode-n-level-level-seed-seed = 回合 { $n }  难度 { $level }  种子 { $seed }
goal-goal = 目标：{ $goal }
episode-n-ending = 回合 { $n }  { $ending }
truth-truth = 真相：{ $truth }
n-steps = { $n } 步
n-lines = { $n } 行

## checkpoints: compare

mark-two-checkpoints-with-x-then-d-compares-them-seed-by-seed = 用 x 标记两个检查点，再按 d 逐种子对比
weights-n-of-all-tensors-changed-by-more-than-1 = 权重：{ $n }/{ $all } 个张量变化超过 1%
not-in-both-names = 只有一方有：{ $names }
weights-n-a-reason = 权重 n/a：{ $reason }
press-d-both-are-played-on-the-same-held-out-seeds = 按 d：两者在同一批留出种子上运行
waits-for-its-turn = 排队等待
failed-reason = 失败：{ $reason }
n-of-all-seeds-played-success-p = 已完成 { $n }/{ $all } 个种子，成功率 { $p }
metric = 指标
delta = 差值
n-95-interval = 95% 区间
verdict = 结论
paired-over-n-held-out-seeds-level-level = 在 { $n } 个留出种子上配对，难度 { $level }
n-fixed = +{ $n } 修复
n-broken = -{ $n } 破坏
and-n-more = 另有 { $n } 个
seeds-list-more = 种子 { $list }{ $more }
better = 更好
WORSE = 更差 !
success = 成功率
final-reward = 终局奖励
return = 回报
steps = 步数
tool-errors = 工具错误
tokens = token
manifests-say-the-same-of-both = 两者的清单一致
manifests-differ-in = 清单的不同之处

## checkpoints: list

no-checkpoint-is-listed-the-agent-of-this-run-is-no-model-or-its-policy-is-still-loading = 没有列出检查点：本次运行的智能体不是模型，或其策略仍在加载
id = 名称
step = 步
created = 创建时间
check = 校验
size = 大小
seeds = 种子
state = 状态
note = 备注
ok = 正常
BAD = 异常
SERVING = 已上线
BLOCKED = 已阻止
previous = 上一个
compare = 对比
evaluate = 评估
verify = 校验
promote-typed = 上线（需键入）

## checkpoints

no-checkpoint-is-listed = 没有列出检查点
evaluating-id-on-n-held-out-seeds-esc-cancels = 正在用 { $n } 个留出种子评估 { $id }；esc 取消
mark-taken-away-from-id = 已取消 { $id } 的标记
a-and-b-are-marked-d-compares-them = 已标记 { $a } 和 { $b }；d 对比
one-is-marked-as-A-mark-another-and-press-d = 已标记一个为 A；再标记一个后按 d
mark-two-checkpoints-with-x-then-d-compares-them = 用 x 标记两个检查点，再按 d 对比
comparing-a-and-b-on-n-held-out-seeds-esc-cancels = 正在 { $n } 个留出种子上对比 { $a } 与 { $b }；esc 取消

## checkpoints: rollout

clock-of-the-run = 运行的 { $clock }
serving = 线上
since = 开始于
history = 历史
to-began-to-serve = { $to } 上线

## curves: evaluations

agent = 智能体
level = 难度
success-95-interval = 成功率  95% 区间

## curves: figure

no-series-is-named-name-there-are-all = 没有名为 `{ $name }` 的序列；可用的有 { $all }
step-reward = 单步奖励
hybrid-reward = 混合奖励
episode-length = 回合步数
policy-loss = 策略损失
value-loss = 价值损失
entropy = 熵
approx-KL = 近似 KL
explained-variance = 可解释方差
clip-fraction = 裁剪比例
gradient-norm = 梯度范数
learning-rate = 学习率
duration-of-an-update = 更新耗时
no-episode-has-ended-yet = 还没有回合结束
waiting-for-the-first-step = 等待第一步
n-a-no-training-update-up-to-here = n/a（至此没有训练更新）
no-update-up-to-here-key-goes-to-the-end-of-the-recording = 至此没有更新；{ $key } 到录制末尾
n-a-this-training-has-no-such-figure = n/a（此训练没有这项指标）
ep = 回合
update = 更新

## curves: keys

at-most-n-curves-can-be-told-apart-in-one-chart = 一张图最多能分辨 { $n } 条曲线

## curves

one-of-n = { $n } 条之一
n-more-down = 还有 { $n } 条：向下
n-a-this-training-has-no-figures = n/a（此训练没有指标）

## curves: panel

nothing-above-0-yet-which-a-log-axis-needs = 还没有大于 0 的值，对数轴需要
no-finite-value-yet = 还没有有限值
return-of-each-episode = 每回合的回报
reward-of-each-step = 每一步的奖励
n-skipped-not-finite = 跳过 { $n } 个：非有限值
n-not-shown-on-a-log-axis = { $n } 个无法在对数轴上显示
older-part = 较旧部分
newest-part = 最新部分
n-a-column = 每列 { $n } 个
the-cursor-is-not-in-view = 光标不在视野内
not-finite = 非有限值
mean-mean-min-min-max-max-of-n = 均值 { $mean }  最小 { $min }  最大 { $max }，共 { $n }

## curves: traces

clock-n-a-when-the-run-began-is-not-known = 时钟 n/a：不知道运行何时开始
by-time-for-they-are-counted-differently = 按时间，因为各自的计数方式不同

## curves: vitals

near = 接近
below-02 = 低于 .02
n-1-to-3 = .1 到 .3
near-1-0-or-less-is-no-critic = 接近 1；不大于 0 则 critic 无效
falls-slowly = 缓慢下降
steady = 平稳
no-rule-finite = 无规则；应为有限值
rising = 上升
falling = 下降
update-n = 更新 { $n }
figure = 指标
newest = 最新
last-20 = 近 20 次
usual = 通常

## gpu

still-while-paused = 暂停时不刷新
waiting-for-the-first-sample = 等待第一个采样
devices-more = 还有 { $devices }
name-LOST-reason = { $name } 丢失：{ $reason }
util-share-mem-memory = 利用率 { $share }  显存 { $memory }
power-n-a = 功耗 n/a
temp-n-a = 温度 n/a
ours-n-cores = 本进程 { $n } 核
mem = 内存
memory-ours-rss = { $memory }  本进程 { $rss }
THROTTLED-why = 降频：{ $why }
idle = 空闲
clocks-are-set = 时钟被设定
power-limit = 功率上限
hardware-slowdown = 硬件降速
another-GPU = 另一块 GPU
too-hot = 过热
power-supply = 供电
memory-rows-could-not-be-replaced-replace-the-GPU = 显存行无法替换：请更换 GPU
memory-rows-wait-for-a-reset-to-be-replaced = 显存行等待重置后替换
memory-pages-wait-for-a-reset-to-be-retired = 显存页等待重置后停用
NVLink-n-of-all-up = NVLink { $n }/{ $all } 在线
ecc-corrected-n-replaced-rows = ecc 已纠正 { $n }，已替换 { $rows }
swap-bytes = 交换 { $bytes }
load-n = 负载 { $n }
n-files-open = 打开 { $n } 个文件
free-free-on-mount = { $free } 可用，{ $mount }
disk = 磁盘
read-read-write-written = 读 { $read }  写 { $written }
net = 网络
in-received-out-sent = 入 { $received }  出 { $sent }
done = 完成
n-devices = { $n } 个设备
n-decisions = { $n } 个决策

## log

no-log-lines-yet = 还没有日志
no-line-is-shown-filter-o-and-filter-change-that = 没有显示任何行：{ $filter }；o 和 :filter 可更改
log-all-levels = 日志：全部级别
log-letter-and-heavier = 日志：{ $letter } 及以上
samples-dropped = 丢弃了 { $samples }
events-of-a-newer-version = { $events }来自更新的版本
n-samples = { $n } 个采样
n-events = { $n } 个事件

## memory

context-tokens = 上下文 { $tokens }
n-max-tokens = { $n }/{ $max } token
observe = 观测
think = 思考
act = 动作
settle = 结算
step-n = 第 { $n } 步
waiting-for-the-first-episode = 等待第一个回合
n-level-level-seed-seed = { $n }  难度 { $level }  种子 { $seed }
n-a-before-the-first = n/a（尚未开始）
n-a-no-message-yet = n/a（还没有消息）
ratio-1-at-the-last-compression = 上次压缩 { $ratio }:1
nothing-kept = 没有保留内容
episode = 回合
phase = 阶段
prompt = 提示词
memory = 记忆
errors = 错误
hash = 哈希
waiting-for-the-first-observation = 等待第一个观测
last-observation = 最近的观测
value-index = 值 { $index }
n-tool-errors = { $n } 个工具错误

## recall

goal = 目标
newest-observation-as-people-read-it = 最新观测（人读）
and-as-the-model-reads-it = 以及模型所读
cached = 缓存
n-tokens-share-were-not-read-again = { $n } token ({ $share }) 无需重读
no-step-was-compressed-yet = 还没有压缩过任何步
compressed-memory-the-newest-first = 压缩的记忆，最新的在前
compressed-n-times-before-after-tokens = 压缩 { $n } 次，{ $before } -> { $after } token
nothing-was-compressed-in-this-episode-every-step-stands-in-the-prompt-word-for-word = 本回合没有压缩：每一步都原样保留在提示词中
step-n-before-after-tokens-ratio = 第 { $n } 步：{ $before } -> { $after } token{ $ratio }
held-nothing-to-keep = 没有值得保留的内容

## replay: episodes

live = 进行中
aborted = 已中止
limit = 超限
fail = 失败
n-lanes = { $n } 个 lane
the-recording-holds-no-episode = 录制中没有回合
oldest-first = 最早在前
newest-first = 最新在前
training = 训练
compressed-once-before-after-tokens = 压缩 1 次，{ $before } -> { $after } tokens
the-recording-stands-at-its-beginning-what-it-says-of-checkpoints-comes-with-its-first-events = 录像位于开头：其检查点信息随最初的事件出现
episode-episode-was-aborted-after-n-steps-return-sum-hybrid-hybrid-final-last-truth = 回合 { $episode } 在 { $n } 步后中止：回报 { $sum }，混合 { $hybrid }，最终 { $last }；{ $truth }
episode-episode-failed-at-the-step-limit-after-n-steps-return-sum-hybrid-hybrid-final-last-truth = 回合 { $episode } 在 { $n } 步后达到步数上限而失败：回报 { $sum }，混合 { $hybrid }，最终 { $last }；{ $truth }
return-least-first = 回报，从低到高
length-longest-first = 步数，从长到短
checkpoint = 检查点
ending = 结局
sort-sort-o-enter-opens = 排序：{ $sort } [o]  [enter] 打开
filter-fail-ret-0-2-len-30 = :filter fail ret<0.2 len>30
ret = 回报
len = 步数
ckpt = 检查点
end = 结局
no-recordings-here-yet = 这里还没有录制
recordings-n = 录制 ({ $n })
recordings-being-listed = 录制：正在列出

## replay: inspector

no-step-is-played-yet = 还没有播放任何步
b-break-here-w-watch = [b] 在此设断点  [w] 监视
reward-step-step-sum-sum = 奖励     单步 { $step }  合计 { $sum }
at-its-end = (结束时)
hybrid-hybrid-reason = 混合奖励 { $hybrid }{ $reason }
gamma-gamma-value-value-adv-n-a = 折扣 { $gamma }  价值 { $value }  优势 n/a
policy-name = 策略     { $name }
message-logp-logp-entropy-entropy-n-tokens = 消息     logp { $logp }  熵 { $entropy }  { $n } token
message-n-a-none-yet-in-this-step = 消息     n/a（这一步还没有）
prompt-tokens-tokens = 提示词   { $tokens } token
memory-ratio = 记忆     { $ratio }
nothing-compressed = 没有压缩
compressed-before-after-tokens = 压缩 { $before } -> { $after } token
tools-name-status = 工具     { $name } { $status }
tools-none-yet-in-this-step = 工具     这一步还没有
true-here = 此处成立
not-here = 此处不成立
watch-text-here-held = 监视     { $text }：{ $here }，{ $held }
observation-n-a-none-yet = 观测 n/a（还没有）
observation-changed-since-the-step-before = 观测，~ 表示与上一步相比有变化

## replay

n-shown = 显示 { $n } 条
a-live-run-can-t-be-sought-in-its-recording-can-from-the-list-of-episodes = 实时运行不能定位；可从回合列表打开其录制来定位
there-is-no-episode-yet = 还没有回合
opening-episode-episode-in-this-run-s-recording = 正在从本次运行的录制中打开回合 { $episode }
opening-name = 正在打开 { $name }
no-later-episode = 后面没有回合
no-earlier-episode = 前面没有回合
n-of-end-read = 已读 { $n }/{ $end }
no-other-match-in-this-episode = 本回合没有其他匹配
tool-error-at-event-seq = 事件 { $seq } 的工具错误
place-is-no-place-write-1200-3-12-12-41-8s-or-1-23 = `{ $place }` 不是位置；请写 @1200、3/12、12、41.8s 或 1:23

## replay: timeline

no-step-yet = 还没有步
n-0-h-space-play-pause-l-mark-brace-error-b-break-c-C-run-to-a-stop-seek-place = 0 |<   , h <   space 播放/暂停   . l >   $ >|   [ ] 标记   { $brace } 错误   b 断点   c C 运行到断点   :seek { $place }
O-see-T-think-A-act-error-playhead-b-breakpoint-m-mark-C-swap-B-branch = O 观测  T 思考  A 动作  ! 错误  ^ 播放头  b 断点  m 标记  C 切换  B 分支

## replay: transcript

at-of-all-here = 本回合第 { $at }/{ $all } 处
all-here = 本回合 { $all } 处
n-in-all = 共 { $n } 处
n-in-read-of-end-events = { $end } 个事件已读 { $read }，{ $n } 处
at-the-playhead = 在播放头处
enter-goes-here-G-back-to-the-playhead = enter 跳到此处，G 回到播放头
the-recording-holds-no-episode-here = 录制在此没有回合
n-rows-to-come = 还有 { $n } 行

## reward

waiting-for-the-first-reward = 等待第一个奖励
step-n-reward-last-sum-sum = 第 { $n } 步  奖励 { $last }  合计 { $sum }
at-the-end = (结束时)
hybrid = 混合奖励
success-n-a-no-episode-has-ended = 成功率 n/a（还没有回合结束）
success-ratio-of-the-last-n = 近 { $n } 回合成功率 { $ratio }
n-of-of-in-all = 总计 { $n }/{ $of }
last-word-episode-n-return-sum-hybrid-hybrid = 上回合 { $word }  编号 { $n }  回报 { $sum }  混合 { $hybrid }

## rules

FIRING = 触发中
pending = 待触发
resolved = 已解除
inactive = 未激活
no-rule-holds-text-an-empty-filter-shows-all = 没有规则包含 { $text }；空的 :filter 显示全部
rule = 规则
last-30-min = 近 30 分钟
no-alert = 没有告警
since-clock-of-the-run = 自运行的 { $clock } 起
severity-word = 级别 { $word }
expression-labels-and-runbook-n-a-this-is-an-alert-of-the-console-itself = 表达式、标签和处置手册 n/a：这是控制台自身的告警
history-newest-first = 历史，最新在前

## strips

returns = 回报
step-n-r-last-sum-sum = 第 { $n } 步  r { $last }  合计 { $sum }
last-word-return-sum-steps = 上回合 { $word }  回报 { $sum }  { $steps }
cpu-cpu-ours-rss = cpu { $cpu }  本进程 { $rss }
tools-waiting-for-the-first-call = 工具：等待第一次调用
tools-calls-errors = 工具 { $calls }  { $errors }
n-a-loading = n/a（加载中）
policy = 策略
success-share = 成功率 { $share }
no-alerts = 没有告警
chain = 思维
reward = 奖励
minutes-m-seconds-s = { $minutes }分{ $seconds }秒
max = 最快
episode-episode-seed-seed-level-goal = 回合 { $episode }，种子 { $seed }，{ $level }：{ $goal }
from-to-to-serves-from-here-on = { $from } -> { $to }：此后由 { $to } 服务
episode-episode-succeeded-after-n-steps-return-sum-hybrid-hybrid-final-last-truth = 回合 { $episode } 在 { $n } 步后成功：回报 { $sum }，混合 { $hybrid }，最终 { $last }；{ $truth }
episode-episode-failed-after-n-steps-return-sum-hybrid-hybrid-final-last-truth = 回合 { $episode } 在 { $n } 步后失败：回报 { $sum }，混合 { $hybrid }，最终 { $last }；{ $truth }
text-is-not-a-pace-write-max-or-a-factor-from-0-1-to-1000-such-as-2-or-x2 = `{ $text }` 不是速度；请写 max 或 0.1 到 1000 的倍数，例如 2 或 x2
tools = 工具
gpu = GPU
alerts = 告警
log = 日志
episodes = 回合
timeline = 时间线
list = 列表
rollout = 上线
rules = 规则
silences = 静默
vitals = 指标
evals = 评估
recall = 回忆
call = 调用
rwd = 奖励
tool = 工具
alrt = 告警
eps = 回合
time = 时间
n-calls = { $n } 次调用
n-errors = { $n } 个错误

## tools

n-in-flight = { $n } 个进行中
n-more-f-for-full-screen = 还有 { $n } 个，f 全屏
episode-e-step-s = 回合 { $e } 第 { $s } 步
the-chain-holds-no-call-of-this-tool-any-more = 思维链中已没有此工具的调用
request = 请求
response-in-flight = 响应：进行中
response-status-after-time = 响应：{ $status }，用时 { $time }
waiting-for-the-first-call-tools-names = 等待第一次调用；工具：{ $names }
waiting-for-the-first-tool-call = 等待第一次工具调用
calls = 调用
flying = 进行中

## session

name-is-no-number-of-colours = { $name } 不是颜色数
screen-ron-is-of-version-version-what-this-program-does-not-know-of-it-is-ignored = screen.ron 的版本是 { $version }：忽略本程序不认识的内容
screen-ron-holds-what-this-program-does-not-know-which-is-ignored-names = screen.ron 含有本程序不认识的内容，已忽略：{ $names }
path-is-ignored-why = 已忽略 { $path }：{ $why }
it-is-no-small-regular-file = 不是小的普通文件
it-has-no-version = 没有版本号

## shot

text-is-no-picture-write-svg-png-txt-or-ans = { $text } 不是图片格式；请写 svg、png、txt 或 ans

## status

RW = 读写
READ-ONLY = 只读
RO = 只读
ep-ep-step-step-last = 回合 { $ep } 步 { $step }/{ $last }
ep-ep-step-max = 回合 { $ep } { $step }/{ $max }
lane-lane-all = lane { $lane }/{ $all }
seed-seed = 种子 { $seed }
decisions-a-second = （每秒决策数）
event-head-end = 事件 { $head }/{ $end }
n-FIRING = { $n } 条告警触发
DAMAGED = 录制损坏
GROWS = 写入中
REPLAY = 回放
REPLAY-PAUSED = 回放已暂停
PAUSED = 已暂停
REPLAY-PAUSED-at-bp-number = 回放停在断点 bp{ $number }
PAUSED-at-bp-number = 停在断点 bp{ $number }
FAILED = 失败
LOADING = 加载中
LIVE = 实时
STEPPING = 单步中
ENDED = 已结束
LIVE-run-goes-on = 实时运行继续中
LIVE-run-PAUSED = 实时运行已暂停
LIVE-run-PAUSED-at-bp-number = 实时运行停在断点 bp{ $number }
LIVE-run-ended = 实时运行已结束

## stops

there-is-no-step-yet-to-stop-at = 还没有可停的步
Breakpoints = 断点
Presets-of-break = :break 的预设
number-is-no-number-of-a-breakpoint = `{ $number }` 不是断点编号
write-breakpoints-or-clear-delete-N-presets-behind-it = 请写 :breakpoints，其后可加 clear、delete N、presets
none-is-set-b-sets-one-here-break-one-with-a-condition = 没有设置；b 在此处设断点，:break 设条件断点
once = 仅一次
watch = 监视
hit-n-of-times = 命中 { $n }，共 { $times }
hit-times-in-read-of-end-events = 已读 { $read }/{ $end } 个事件，命中 { $times }
hit-times-last-at-event-last = 命中 { $times }，最近在事件 { $last }
hit-0-times = 命中 0 次

## theme

theme-place-reason = 主题 { $place }：{ $reason }
theme-place-no-style-is-named-name-there-are-names = 主题 { $place }：没有名为 `{ $name }` 的样式；可用的有 { $names }
theme-place-name-is-value-write-rrggbb-default-or-one-of-the-16-colours-such-as-red-or-light-blue = 主题 { $place }：`{ $name }` 是 { $value }；请写 "#rrggbb"、"default" 或 16 色之一，如 "red" 或 "light-blue"
no-theme-is-named-name-there-are-names-or-name-a-file = 没有名为 `{ $name }` 的主题；可用的有 { $names }，或写文件名
theme-file-path-reason = 主题文件 { $path }：{ $reason }
has-n-bytes-which-no-theme-has-at-most-max-are-read = 有 { $n } 字节，主题不会这么大；最多读取 { $max }
place-line-line-column-column = { $place } 第 { $line } 行第 { $column } 列
place-line-line = { $place } 第 { $line } 行

## update

ends-episodes-under-way-and-begins-anew-from-seed-seed = 结束进行中的{ $episodes }，并从种子 { $seed } 重新开始
argument-is-no-seed-write-a-whole-number = `{ $argument }` 不是种子；请写整数
the-recording-holds-no-events = 录制中没有事件
from-the-beginning-again = 从头播放
swap-needs-a-checkpoint-names = swap 需要检查点：{ $names }
no-checkpoint-is-named-argument-there-are-names = 没有名为 { $argument } 的检查点；可用的有 { $names }
name-serves-already = { $name } 已在线上
from-name-on-all-lanes-from-the-next-decision-on = { $from } -> { $name }，所有 lane，从下一个决策起
the-episode = 回合
n-episodes = {" "}{ $n } 个回合
there-is-no-lane-lane = 没有 lane { $lane }
nothing-is-searched-for-begins = 没有搜索内容；按 / 开始
from-the-oldest-again = ，回到最旧的
from-the-newest-again = ，回到最新的
no-tool-error-below-this-row-n-in-all = 此行之下没有工具错误；共 { $n } 个
no-tool-error-above-this-row-n-in-all = 此行之上没有工具错误；共 { $n } 个
there-is-nothing-to-mark-yet = 还没有可标记的内容
mark-taken-away-from-event-seq-n-left = 已取消事件 { $seq } 的标记；还剩 { $n } 个
marked-event-seq-and-go-from-mark-to-mark = 已标记事件 { $seq }；[ 和 ] 在标记间移动
no-later-mark-m-sets-one = 后面没有标记；m 设置标记
no-earlier-mark-m-sets-one = 前面没有标记；m 设置标记
mark-at-of-all = 第 { $at }/{ $all } 个标记

## Names of commands, as hints and the menu show them; behind ":" they are typed in English

command-help = 帮助
command-command = 命令
command-palette = 命令面板
command-live = 实时
command-replay = 回放
command-checkpoints = 检查点
command-alerts = 告警
command-training = 训练
command-memory = 记忆
command-log = 日志
command-toggle = 暂停/继续
command-step = 单步
command-phase = 单阶段
command-token = 单 token
command-episode = 到回合末
command-back = 后退
command-slower = 减速
command-faster = 加速
command-prev = 上一步
command-next = 下一步
command-prev-episode = 上一回合
command-next-episode = 下一回合
command-first = 开头
command-last = 末尾
command-focus-next = 下一窗格
command-focus-previous = 上一窗格
command-pane-1 = 窗格 1
command-pane-2 = 窗格 2
command-pane-3 = 窗格 3
command-pane-4 = 窗格 4
command-pane-5 = 窗格 5
command-pane-6 = 窗格 6
command-open = 打开
command-full = 全屏
command-bigger = 放大
command-smaller = 缩小
command-up = 向上
command-down = 向下
command-page-up = 上翻页
command-page-down = 下翻页
command-top = 最旧
command-bottom = 最新
command-lane = 切换 lane
command-find = 查找
command-next-match = 下一匹配
command-previous-match = 上一匹配
command-previous-error = 上一错误
command-next-error = 下一错误
command-mark = 标记
command-previous-mark = 上一标记
command-next-mark = 下一标记
command-episodes = 回合列表
command-inspect = 查看状态
command-watch = 监视
command-break-here = 断点
command-break = 条件断点
command-tbreak = 临时断点
command-cond = 修改断点条件
command-breakpoints = 断点列表
command-continue = 运行到断点
command-continue-back = 倒回断点
command-fold = 折叠
command-fold-all = 全部折叠
command-unfold-all = 全部展开
command-detail = 详略
command-raw = 原文
command-overlay = token 标注
command-smooth-less = 平滑减弱
command-smooth-more = 平滑增强
command-log-axis = 对数轴
command-x-axis = 横轴
command-cursor = 光标
command-cursor-left = 光标左移
command-cursor-right = 光标右移
command-zoom-in = 放大曲线
command-zoom-out = 缩小曲线
command-series = 选择曲线
command-sort = 排序
command-filter = 筛选
command-mark-compare = 标记对比
command-compare = 对比
command-evaluate = 评估
command-verify = 校验
command-cancel = 取消
command-promote = 上线
command-pin = 保留
command-canary = 金丝雀
command-rollback = 回滚
command-abort = 结束金丝雀
command-undo = 撤销
command-ack = 确认
command-silence = 静默
command-unsilence = 解除静默
command-dry-run = 试运行
command-edit = 编辑
command-menu = 菜单
command-copy = 复制
command-copy-json = 复制 JSON
command-redraw = 重绘
command-suspend = 挂起
command-close = 关闭
command-quit = 退出
command-pause = 暂停
command-resume = 继续
command-pace = 速度
command-seed = 换种子
command-swap = 切换检查点
command-seek = 定位
command-theme = 主题
command-colors = 颜色
command-export = 导出
command-bundle = 打包
command-shot = 截图

## Checkpoints, pictures and lines: what came later

a-picture-s-name-ends-with-svg-png-txt-or-ans = 图片文件名须以 .svg、.png、.txt 或 .ans 结尾
id-not-verified-reason = { $id }：未能校验：{ $reason }
a-line-takes-at-most-n-bytes-nothing-was-put-in = 一行最多 { $n } 字节：未粘贴任何内容
filters-enter-runs-esc-closes = / 筛选，enter 执行，esc 关闭
Quitting-ends-this-run-whose-recording-FAILED-what-was-not-committed-is-lost-reason-y-quits-any-other-key-goes-on = 退出将结束本次运行，且其录制已失败：未提交的内容已丢失（{ $reason }）。按 y 退出，其他键继续
tokens-by-advantage-above-0-05-below-0-05-0-between = 按优势标记 token：+ 高于 0.05，- 低于 -0.05，其间为 0
n-a-no-sample-was-recorded-up-to-here = n/a：到此为止没有录制任何采样
n-a-no-training-in-this-run-pilothouse-train-records-one-and-its-recording-shows-its-curves-here = n/a（本次运行没有训练）：pilothouse train 会录制训练，其录制在此显示曲线
no-evaluation-in-this-run-gc-evaluates-checkpoints = 本次运行没有评估；gc 评估检查点
P-serves-the-chosen-one-after-swap-and-its-name-were-typed-to-go-back-serve-the-previous-one-in-the-same-way-Canary-guards-rollback-and-undo-are-not-built-yet = P 在输入 swap 与名称后上线所选检查点；要退回，以同样方式上线前一个。金丝雀、护栏、回滚与撤销尚未实现
evaluated-at-level-level = 评估级别 { $level }
verifying-id-it-waits-for-what-was-asked-before-esc-cancels = 正在校验 { $id }；排在先前的请求之后；esc 取消
nothing-is-being-evaluated-compared-or-verified = 没有正在进行的评估、对比或校验
cancelling-the-episode-that-is-played-ends-first = 正在取消；当前回合结束后停止
cancel = 取消
id-is-BAD-and-is-not-served-reason = { $id } 已损坏，不予上线：{ $reason }
both-over-the-seeds-that-both-solved-of-twenty-such-intervals-one-misses-by-chance = 均解决：只计两者都解决的种子；二十个这样的区间中约有一个会偶然失准
steps-both = 步数（均解决）
tokens-both = token 数（均解决）
same = 相同
differs = 有差异
unclear = 不明确
no-episode-runs-yet = 还没有回合在运行
text-is-no-step-write-its-number = `{ $text }` 不是步骤；请写步骤编号
no-breakpoint-held-at-an-earlier-step-of-this-episode = 本回合更早的步骤没有命中断点
text-is-no-step-write-5-or-12-5-for-step-5-of-episode-12 = `{ $text }` 不是步骤；请写 5，或用 12/5 表示回合 12 的步骤 5
say-what-it-is-to-do-action-scale-svc-pay-n-6-result-TEXT-or-both = 请写明要做什么：action='scale(svc=pay, n=6)'、result='文本'，或两者
name-is-nothing-that-can-be-changed-there-are-checkpoint-seed-action-result = `{ $name }` 不能更改；可用 checkpoint、seed、action、result
write-name-value-or-name-several-words-not-text = 请写 name=value 或 name='多个词'，不要写 `{ $text }`
text-is-no-call-write-it-as-the-chain-shows-it-scale-svc-pay-n-6 = `{ $text }` 不是调用；请按思维链的写法：scale(svc=pay, n=6)
Branches = 分支
went-back = 后退
fork = 分叉
runs = 运行中
decide-a-step-of-this-episode-anew-the-lane-goes-back-there-and-the-run-pauses = 重新决定本回合的某一步：通道退回到那里，运行暂停
back-to-the-last-step-of-this-episode-at-which-a-breakpoint-held = 退回到本回合最近一次命中断点的步骤
go-on-from-before-this-step-beside-what-runs-or-live-from-a-recording-LANE-EPISODE-STEP-names-another-episode = 从这一步之前继续: 与正在跑的并行, 或从录像变为实时; [LANE:]EPISODE/STEP 指定别的回合
command-rs = 后退一步
command-rc = 退回断点
command-fork = 分叉
command-branches = 分支
command-override = 改写
no-episode-in-this-recording-key-shows-the-curves-of-a-training = 此录制没有回合；{ $key } 显示训练曲线
did-you-mean-name = （是否指 `{ $name }`？）
the-condition-knows-no-name-near-break-fields-lists-what-it-knows = 条件不认识 `{ $name }`{ $near }；:break fields 列出可用名称
name-is-never-word-near-break-fields-lists-them = `{ $name }` 不会是 `{ $word }`{ $near }；:break fields 列出
Names-in-conditions = 条件中的名称
decisions-rate-s-in-n-s-tokens = { $decisions }（{ $n } 秒内 { $rate }/s）  { $tokens }
success-n-a-no-episode-since-the-swap = 成功 n/a（切换后还没有回合）
success-ratio-of-n-since-the-swap = 切换后 { $n } 个回合成功 { $ratio }
UNFINISHED = 未结束
n-times = { $n } 次
none-since-the-watch-was-set = 设置监视后还没有
smoothed-by-weight = 平滑 { $weight }
filter-text = 筛选 { $text }
play = 播放
again = 重播
resume = 继续
Not-done = 未执行
esc-or-enter-closes-this = 按 esc 或 enter 关闭
sha256-sha256-verified = sha256 { $sha256 }：已校验
sha256-sha256-BAD-reason = sha256 { $sha256 }：已损坏：{ $reason }
sha256-sha256-NOT-verified-reason = sha256 { $sha256 }：未能校验：{ $reason }
sha256-sha256-being-verified = sha256 { $sha256 }：校验中
sha256-sha256-NOT-verified = sha256 { $sha256 }：未校验
success-success-on-n-held-out-seeds-at-level = 难度 { $level }，{ $n } 个留出种子，成功率 { $success }
NOT-evaluated-at-level = 尚未在难度 { $level } 评估
NOT-compared-with-id = 尚未与 { $id } 对比
against-id-on-n-seeds-nothing-is-clearly-worse = 与 { $id } 在 { $n } 个种子上相比：无明显更差
against-id-on-n-seeds-WORSE-names = 与 { $id } 在 { $n } 个种子上相比：更差 ! { $names }
write-the-number-of-a-breakpoint-and-its-new-condition-cond-1-reward-0-0 = 写出断点的编号和新条件: :cond 1 reward < 0.0
text-is-no-option-there-are-once-log-ignore-N = `{ $text }` 不是选项; 有 once, log, ignore=N
cond-N-CONDITION-changes-one-breakpoints-delete-N-takes-one-away = :cond N CONDITION 改一个断点, :breakpoints delete N 删一个
log-and-ignore-are-for-live-runs-in-a-recording-c-goes-from-hit-to-hit = log 和 ignore 用于实时运行: 在录像里 c 从一次命中走到下一次
bp-number-text-the-run-pauses-where-it-holds = bp{ $number }: { $text }; 条件成立处运行暂停
stopped-at-address-by-hit-c-goes-on = 停在 { $address }, 因为 { $hit }; c 继续
at-address-hit = 在 { $address }: { $hit }
give-a-breakpoint-another-condition = 给断点换一个条件
the-run-goes-on-from-here-recorded-to-name = 运行从这里继续; 录到 { $name }
the-run-goes-on-from-here-it-is-not-recorded = 运行从这里继续; 没有录制
a-live-run-goes-on-behind-this-recording-fork-from-a-recording-that-pilothouse-replay-opened = 录像后面有实时运行: 请从 pilothouse replay 打开的录像里分叉
playing-episode-episode-again-up-to-step-step = 重演第 { $episode } 回合到第 { $step } 步
a-fork-is-on-its-way-already-the-console-goes-to-it-when-it-is-there = 已有分叉正在准备；就绪后控制台会转到那里
breakpoints-go-along-n = ；随行断点: { $n }
names-stay-with-the-recording = ；{ $names } 留在录像中
not-forked-reason = 未分叉: { $reason }
this-run-is-not-recorded-there-is-nothing-to-compare = 本次运行没有录制：无可对比
nothing-differs = 没有差异
compared-they-part-at-step-step = 已对比：从第 { $step } 步分开
compared-the-same-steps = 已对比：各步相同
compared-n-of-all-pairs-of-episodes-are-the-same = 已对比：{ $all } 对回合中 { $n } 对相同
not-compared-reason = 未能对比：{ $reason }
diff = 对比
next-difference = 下一差异
difference-before = 上一差异
summary = 摘要
they-part-at-step-step = 从第 { $step } 步分开
the-same-is-done-with-another-confidence-from-step-step-on = 所做相同，从第 { $step } 步起把握不同
log-probabilities-part-before-at-step-step = 对数概率更早不同：第 { $step } 步
steps-same-same-differ-differ-a-only-A-b-only-B = 步：= { $same } 相同，~ { $differ } 不同，- { $a } 仅 A，+ { $b } 仅 B
letters-O-observation-T-thought-A-action-E-result-R-reward-S-state-L-log-probabilities = 字母：O 观察，T 思考，A 动作，E 结果，R 奖励，S 状态，L 对数概率
A-goes-on-B-has-no-such-step = A 继续，B 没有这一步
B-goes-on-A-has-no-such-step = B 继续，A 没有这一步
unfinished = 未结束
outcome = 结局
cost = 代价
decisions = 决策
prompt-tokens = 提示词元
thinking = 思考
in-tools = 工具
n-of-all-pairs-of-episodes-are-the-same = { $all } 对回合中 { $n } 对相同
the-first-n-are-listed = 只列出前 { $n } 对
without-a-partner-a-in-A-b-in-B = 没有对应回合：A 中 { $a }，B 中 { $b }
told-and-no-difference = 仅告知，不算差异：
episode-seed-seed-branch = { $episode }，种子 { $seed }{ $branch }
failure = 失败
seed = 种子
briefing = 简报
observation-fields = 观察字段
state-at-the-beginning = 初始状态
environment = 环境
environment-version = 环境版本
environment-parameters = 环境参数
lanes = 道
longest-episode = 回合上限
decoding = 解码
build = 构建
configuration = 配置
processor = 处理器
text-is-no-episode-write-lane-episode-such-as-3-or-1-3 = `{ $text }` 不是回合；请写 [道:]回合，如 3 或 1:3
a-recording-can-t-be-compared-with-an-episode-name-two-of-one-kind = 录制不能与回合对比：请给出同一类的两个
name-another-one-nothing-differs-from-itself = 请给出另一个：自己与自己没有差异
comparing-esc-gives-up = 对比中；esc 放弃
no-longer-compared = 不再对比
its-mark-is-taken-away = 标记已取消
two-are-marked-d-compares-them = 已标记两个；d 对比
mark-two-with-x-then-d-compares-them = 用 x 标记两个，再按 d 对比
nothing-was-compared-yet = 还没有对比过
no-episode-has-a-partner = 没有回合有对应回合
this-episode-has-no-partner = 这个回合没有对应回合
B-has-no-such-step = B 没有这一步
A-has-no-such-step = A 没有这一步
no-match-in-what-was-compared = 对比内容中没有匹配
no-later-difference = 后面没有差异
no-earlier-difference = 前面没有差异
no-later-match = 后面没有匹配
no-earlier-match = 前面没有匹配
nothing = 无
observation = 观察
thought-token-n-A-a-la-B-b-lb = 思考，第 { $n } 个词元：A { $a } ({ $la })，B { $b } ({ $lb })
log-probability-of-token-n-text-A-la-B-lb = 第 { $n } 个词元 { $text } 的对数概率：A { $la }，B { $lb }
message = 消息
action = 动作
result = 结果
value = 价值
state-hash = 状态哈希
there-is-no-step-in-either = 两边都没有步
nothing-was-compared-yet-diff-compares-this-branch-with-what-it-goes-on-from-diff-3-1-3-two-episodes-diff-FILE-two-recordings-in-the-list-of-episodes-x-marks-and-d-compares = 还没有对比过：:diff 将本分支与其来源对比，:diff 3 1:3 对比两个回合，:diff FILE 对比两个录制；在回合列表中 x 标记，d 对比
comparing = 对比中
steps-from-to-upto-the-same = 第 { $from } 到 { $upto } 步：相同
n-pairs-of-episodes-the-same = { $n } 对回合：相同
episode-seed-seed-has-no-partner = { $episode } 种子 { $seed }：没有对应回合
no-action = 没有动作
only-one-goes-on = 只有一边继续
step-step-what = 第 { $step } 步：{ $what }
step-a-of-A-b-of-B = A 第 { $a } 步，B 第 { $b } 步
step-step = 第 { $step } 步
enter-compares-the-two-step-by-step = enter 逐步对比这两个
only-A-has-it = 仅 A 有
only-B-has-it = 仅 B 有
reward-reward = 奖励 { $reward }
the-same = = 相同
thought = 思考
reward-and-state = 奖励与状态
confidence = 把握
n-tokens-think-thinking-tool-in-tools = { $n } 个词元，思考 { $think }，工具 { $tool }
token = 词元
log-prob-A = 对数概率 A
Side-by-side = 并排
This-step = 这一步
Summary = 摘要
in-episodes = 回合列表中
in-a-diff = 对比中
command-diff = 对比
command-side-by-side = 并排
command-mark-episode = 标记
command-diff-marked = 对比
command-side-a = A 侧
command-side-b = B 侧
command-fold-same = 折叠相同
screen-what-diff-has-compared-step-by-step = 界面：:diff 所对比的，逐步并排
compare-two-episodes-this-recording-with-another-or-by-itself-this-branch-with-what-it-goes-on-from = 对比两个回合、本录制与另一录制；不带参数则将本分支与其来源对比
mark-for-compare = 标记以供对比
compare-the-two-that-are-marked-or-the-marked-and-the-chosen-one = 对比标记的两个，或标记的与选中的
enter-goes-to-the-step-of-A = enter 前往 A 的步
enter-goes-to-the-step-of-B = enter 前往 B 的步
fold-steps-that-are-the-same-and-unfold-them = 折叠相同的步，或展开
n-pairs = { $n } 对
packing = 正在打包
pack-the-run-or-its-last-minutes-into-one-file-for-another-machine = 把运行或其最后几分钟打包成一个文件，供另一台机器打开
made-from-event-from = { $made }，自事件 { $from } 起
BUNDLE-of-when = 事故包 { $when }
BUNDLE = 事故包
this-run-is-not-recorded-there-is-nothing-to-pack = 此运行未被录制：没有可打包的内容
packed-into-told = 已打包：{ $told }
packed-though-it-is-not-whole-into-told = 录制不完整，仍已打包：{ $told }
events-with-what-looks-like-a-secret-events-look-at-them-before-it-is-handed-on-told = 含疑似密钥的事件：{ $events }；转交前请查看；{ $told }
not-packed-why = 未打包：{ $why }
no-editor-is-named-set-VISUAL-or-EDITOR = 未指定编辑器：请设置 VISUAL 或 EDITOR
text-names-no-editor-a-quote-is-not-closed = `{ $text }` 不是编辑器：引号没有闭合
what-was-left-is-over-n-bytes-too-much-for-a-call = 保存的内容超过 { $n } 字节：作为调用太长
what-was-left-is-no-UTF-8-text = 保存的内容不是 UTF-8 文本
editor-status-nothing-is-changed = { $editor }：{ $status }；没有更改
there-is-no-state-directory-to-edit-in = 没有可用于编辑的状态目录
line-n-told = 第 { $n } 行：{ $told }
step-step-of-episode-episode-lane-lane = 通道 { $lane }，回合 { $episode } 的步骤 { $step }
lines-that-begin-with-are-left-out-an-empty-file-changes-nothing = 以 // 开头的行会被忽略；空文件不作更改
tools-names = 工具：{ $names }
required = 必填
may-be-left-out = 可省略
what-column-column = { $what }，第 { $column } 列
an-object-with-action-and-result-is-needed = 需要一个含 action 和 result 的对象
name-is-neither-action-nor-result = `{ $name }` 既不是 action 也不是 result
an-action-is-an-object-with-tool-and-arguments = action 是含 tool 和 arguments 的对象
a-result-is-text = result 是文本
no-episode-runs-in-this-lane = 此通道没有回合在运行
nothing-is-pending-step-step-is-carried-out-goes-on-to-the-next-one-rs-decides-it-anew = 没有待执行的决策：步骤 { $step } 已执行；> 进到下一步，:rs 重新决定
no-tool-has-this-name = 没有这个名称的工具
no-tool-has-this-name-did-you-mean-near = 没有这个名称的工具；是否指 { $near }？
no-checkpoint-has-this-name = 没有这个名称的检查点
a-whole-number-is-needed = 需要整数
it-is-required-and-missing = 必填，尚缺
empty-the-call-is-what-the-agent-says = 留空：调用由智能体决定
may-be-left-empty = 可留空
answers-the-call-in-place-of-the-tool-and-the-call-is-not-made-empty-the-tool-answers = 代替工具回答，调用不会执行；留空：由工具回答
whose-weights-decide-in-the-branch-empty-the-same = 分支用哪个检查点的权重；留空：不变
what-its-messages-are-sampled-by-empty-the-same = 分支采样消息的种子；留空：不变
one-of-choices = 可选：{ $choices }
nothing-is-changed-esc-leaves-it-so = 没有更改；esc 保持原样
step-step-went-on-meanwhile-rs-decides-it-anew = 步骤 { $step } 已经继续；:rs 重新决定
an-object-as-JSON = 对象（JSON）
a-list-as-JSON = 列表（JSON）
text = 文本
a-number = 数
a-whole-number = 整数
true-or-false = true 或 false
null = null
any-value-as-JSON = 任意值（JSON）
checkpoint-branch = { $checkpoint }（分支）
pausing-to-edit-the-decision-under-way = 正在暂停，以便编辑进行中的决策
the-run-has-ended = 运行已结束
no-tool-has-the-name-name = 没有名为 `{ $name }` 的工具
told-did-you-mean-near = { $told }；是否指 { $near }？
told-key-there-opens-what-was-sent-again = { $told }；在原处按 { $key } 可再次打开所发内容
there-is-no-step-here-to-fork-from = 这里没有可分叉的步骤
nothing-is-changed = 没有更改
an-editor-is-for-a-live-run-that-takes-commands = 编辑器只用于可接受命令的实时运行
read-enter-sends-it = 已读入；按 enter 发送
mistake-ctrl-o-opens-it-again-esc-gives-up = { $mistake }；ctrl-o 重新打开，esc 放弃
fits = 有效
n-to-be-mended = { $n } 处待改
Override-step-step-of-episode-episode-lane-lane = 改写通道 { $lane } 回合 { $episode } 的步骤 { $step }
Fork-before-step-step-of-episode-episode-lane-lane = 在通道 { $lane } 回合 { $episode } 的步骤 { $step } 之前分叉
up-down-choose = 上下键选择
enter-sends-tab-next-choose-ctrl-o-EDITOR-esc-leaves-all-as-it-is = enter 发送   tab 下一项   { $choose }ctrl-o $EDITOR   esc 保持原样
branch-of-lane-episode-before-step = { $lane }:{ $episode } 在 { $step } 之前的分支
a-tree-has-its-own-order = 树有自己的顺序
a-tree-is-shown-whole = 树总是完整显示
branches = 分支
began-by-itself = 自行开始
nothing-changed = 没有改变
cause-from-parent-before-step-step-with = { $cause }：从 { $parent } 的步骤 { $step } 之前：{ $with }
this-recording-has-no-branches = 此录制没有分支
no-branches-yet-rs-goes-back-fork-goes-on-beside-what-runs = 还没有分支；:rs 后退，:fork 在旁边另开一支
this-episode-has-no-parent = 此回合没有父回合
no-branches = 没有分支
branches-n = 分支：{ $n }
enter-opens-backspace-parent-d-diff = [enter] 打开  [backspace] 父回合  [d] 对比
lane-episode = 通道:回合
cause = 原因
branch = + 分支
a-lane-that-goes-on-from-before-the-step-at-the-cursor-with-its-call-to-be-edited = 新通道从光标处的步骤之前继续，其调用可先编辑
the-episodes-that-go-on-from-steps-of-others-as-a-tree = 从其他回合的步骤分出的回合，以树显示
the-branch-s-parent-at-the-step-where-they-part = 分支的父回合，在分出的步骤处
what-differs-between-the-branch-and-its-parent = 分支与父回合的差异
on-branches = 在分支中
edit-what-the-decision-under-way-does-in-place-of-what-the-agent-says-result-answers-the-call-without-making-it = 编辑进行中的决策做什么，代替智能体所说；result 直接回答调用而不执行
command-fork-here = 在此分叉
command-to-parent = 到父回合
command-against-parent = 与父回合对比
it-goes-on-beside-what-runs-from-before-step-step-gb-shows-the-branches = 从步骤 { $step } 之前另开一支；gb 显示分支
step-step-does-that-instead = 步骤 { $step } 改做这个
n-of-all-steps-read = 已读 { $n }/{ $all } 步
bp-number-text-told-where-it-holds = bp{ $number }: { $text }; 成立处只告知
refused-reason = 被拒绝: { $reason }
lane-lane-goes-on-from-parent-before-step-step = 通道 { $lane } 从 { $parent } 第 { $step } 步之前继续
back-before-step-step-o-edits-what-it-does-space-goes-on = 回到第 { $step } 步之前; o 编辑它要做的, 空格继续
the-decision-does-with = 该决策改为{ $with }
path-is-no-regular-file-any-more = { $path } 不再是普通文件

up = 正常
DOWN = 断开
learning = 训练
weights = 权重
operator = 操作员
url-is-on-the-web-open-it-in-a-browser = { $url } 在网上：请用浏览器打开
no-runbook-url-why = 没有手册 { $url }：{ $why }
it-is-no-regular-file = 不是普通文件
file-is-in-its-place-it-is-read-again-at-once = { $file } 已就位，马上重新读取
mistake-file-stays-as-it-was-e-edits-on = { $mistake }；{ $file } 保持原样，e 继续编辑
job-instance-word-since-took = { $job } { $instance }  { $word } { $since }  { $took }
waits-for-n-a-yet = 等待  尚无
waits-for-bar = 等待  { $bar }
n-now = （现在 { $n }）
n-inactive = { $n } 条未触发
rules-are-evaluated-all-is-well = 正在评估 { $rules }，一切正常
until-clock = 至 { $clock }
runbook = 手册
error = 错误
matches-no-series = 没有匹配的序列
no-runbook-is-open = 没有打开手册
n-active = { $n } 个生效
match-matchers = 匹配 { $matchers }
matches-now-n-that-fire-or-wait = 现在匹配：{ $n } 条触发或待定
active-silences-n-ended-ended = 生效的静默 { $n }    已结束 { $ended }
silenced = 已静默
acked = 已确认
nodata = 无数据
all-rules-are-left-out-F-P-S-and-O-show-them-again = 所有规则都被隐藏：F、P、S、O 重新显示
firing = 触发
eval-every-last-took = | 每 { $every } 评估，上次 { $took } 
eval-every-not-yet = | 每 { $every } 评估，尚未评估 
n-endpoints-down = | { $n } 个端点断开 
rules-file-ok-at = | 规则：{ $file } 正常 { $at }
sev = 级别
value-threshold = 值 / 阈值
for = 持续
n-30-min = 30 分钟
labels = 标签
by-who = { $who }
show-show-group-group-group-sort-sort = 显示：{ $show }    分组：{ $group } (:group)    排序：{ $sort }
state-age = 状态、时间
severity = 级别
name = 名称
file = 文件
none = 无
group = 组
no-severity = 无级别
the-console-itself = 控制台自身
flapping = 反复
id-by-who-until-clock-comment = { $id } { $who } 至 { $clock }：{ $comment }
its-selectors-match-no-series-at-all-it-can-t-say-anything = 选择器没有匹配任何序列：无从判断
now-value = 现在 { $value }
group-name-every-time = 组 { $name }，每 { $time }
r-opens-it-here = （r 在此打开）
seq-age-ago = @{ $seq }，{ $age } 前
history-has-not-fired = 历史：从未触发
history-fired-times-newest-first = 历史：触发 { $times }，最新在前
ago-after-the-swap-to-to = 换到 { $to } 后 { $ago }
ago-after-command = { $command } 后 { $ago }
notified-receiver-at-clock-word-outcome-in-took = { $clock } 通知 { $receiver }：{ $word } { $outcome }，用时 { $took }
no-alert-is-chosen = 没有选中告警
say-why-behind-the-matchers-who-comes-next-is-to-know = 请在匹配条件后写明原因，让后来的人知道
a-silence-lasts-from-a-second-to-a-year = 静默时长为一秒到一年
the-run-has-not-said-yet-when-it-began = 运行尚未说明何时开始
until-clock-alerts-that-it-silences-now-n = 至 { $clock }；现在静默的告警：{ $n }
nothing-silences-it-unsilence-takes-the-name-of-a-silence = 没有静默它；:unsilence 后写静默的名称
no-rule-is-named-name-did-you-mean-n = 没有名为 { $name } 的规则；是否指 { $n }？
no-rule-is-named-name = 没有名为 { $name } 的规则
not-in-force-error = 未生效：{ $error }
no-rule-file-is-in-force = 没有生效的规则文件
file-rules-in-force = { $file }：{ $rules } 生效
it-has-not-fired-there-is-no-event-to-go-to = 它从未触发：没有可去的事件
no-rule-file-is-in-force-there-is-nothing-to-edit = 没有生效的规则文件：没有可编辑的
all-rules = 全部规则
rule-on-recording = { $rule }，录像 { $recording }
there-are-several-rule-files-files-edit-them-outside-they-are-read-again-when-saved = 有多个规则文件（{ $files }）：请在外部编辑，保存后会重新读取
these-rules-come-with-the-program-name-a-file-of-your-own-by-rules-and-edit-that = 这些规则随程序提供；用 --rules 指定自己的文件再编辑
would-not-fire = 不会触发
evaluated-every-every-for-the-recording-is-short = 每 { $every } 计算一次，因为录制很短
would-fire-times = 会触发 { $times }
never-clear = 不会恢复
n-rules = { $n } 条规则
n-alerts = { $n } 条告警
say-that-you-have-seen-it-and-see-to-it-it-tells-nobody-for-alerts-acknowledge-minutes = 表示已看到并在处理：在 alerts.acknowledge_minutes 内不再通知
end-its-silence-or-the-one-that-is-named = 结束它的静默，或所写的那个
try-the-rule-on-a-recording-when-would-it-have-fired = 在录像上试运行规则：何时会触发
edit-the-rule-file-only-one-that-is-right-takes-its-place = 编辑规则文件：正确的才会就位
what-the-rule-means-and-what-to-do-as-a-page = 规则的含义与处理办法，单页显示
show-what-fires-or-leave-it-out = 显示或隐藏触发的
show-what-is-pending-or-leave-it-out = 显示或隐藏待定的
show-what-is-silenced-or-acknowledged-or-leave-it-out = 显示或隐藏已静默、已确认的
show-the-rules-with-which-all-is-well-or-leave-them-out = 显示或隐藏正常的规则
group-the-rules = 规则分组
the-rule-file-where-it-lies-and-whether-it-is-in-force = 规则文件：在哪里，是否生效
go-to-the-rule-of-that-name-or-try-it-on-a-recording = 去到该名称的规则，或在录像上试运行
command-runbook = 手册
command-show-firing = 显示触发
command-show-pending = 显示待定
command-show-silenced = 显示静默
command-show-ok = 显示正常
command-group = 分组
command-rules = 规则
command-alert = 告警

## The form of a silence, dry runs, and what alerts did

Runbook = 处置手册
Try-on = 在何处试运行
Dry-run = 试运行结果
command-extend = 延长
the-silence-of-the-chosen-alert-or-the-chosen-one-lasts-longer-an-hour-or-this = 延长所选告警的静默或所选静默：一小时，或所写时长
silence-the-chosen-alert-by-a-form-or-what-these-matchers-meet-such-as-silence-2h-gpu-0-fans-are-swapped = 用表单静默所选告警，或静默符合这些条件的告警，例如 silence 2h gpu=0 fans are swapped
id-by-who-comment = - { $id }，{ $who }：{ $comment }
Acknowledge = 确认告警
Silence = 静默告警
Silence-id-edited = 编辑静默 { $id }
text-groups-nothing-severity-group-instance-or-none = `{ $text }` 不是分组方式：severity、group、instance 或 none
a-label-is-letters-digits-and = 标签名由字母、数字和 _ 组成
a-label-is-to-be-named = 请写标签名
a-time-is-needed-such-as-30m-2h-or-1d = 请写时长，例如 30m、2h 或 1d
age = 时间
and = 且
or = 或
being-tried = 正在试运行
by = 操作人
why = 原因
match = 匹配
dry-run = 结果
try = 试
enter-edits-x-extends-Z-ends-it = enter 编辑，x 延长，Z 结束
enter-sends-tab-next-choose-ctrl-d-takes-the-row-out-esc-gives-up = enter 发送   tab 下一项   { $choose }ctrl-d 删除此行   esc 放弃
event-seq-is-marked-m = 事件 { $seq } 已标记为 m
event-seq-is-marked-m-gl-goes-back-to-the-live-run-which-goes-on = 事件 { $seq } 已标记为 m；gl 回到仍在进行的实时运行
for-time = 持续 { $time }
for-time-so-far = 至今 { $time }
hushes-now-n = 现在会静默：{ $n }
instance = 实例
no-instance = 无实例
n-instances = { $n } 个实例
name-at-least-one-label-such-as-alertname = 至少写一个标签，例如 alertname
no-series-is-named-name = 没有名为 { $name } 的序列
no-series-is-named-name-did-you-mean-near = 没有名为 { $name } 的序列；是不是 { $near }？
no-silence-stands-z-makes-one = 没有生效的静默；z 新建一个
nothing-fired-there-is-no-event-to-go-to = 没有触发：没有可去的事件
nothing-is-silenced = 没有静默任何告警
nothing-silences-it-there-is-nothing-to-extend = 没有静默它：无可延长
nothing-was-tried-yet = 还没有试运行
opening-event-seq-in-this-run-s-recording = 正在打开本次运行录像中的事件 { $seq }
recordings-are-being-listed = 正在列出录像
say-who-answers-for-it = 请写明由谁负责
say-why-who-comes-next-is-to-know = 请写明原因，让后来的人知道
silenced-until-clock = 静默至 { $clock }
silences-are-changed-in-a-live-run-that-takes-commands = 只有接受命令的实时运行才能更改静默
the-recording-does-not-hold-event-seq-yet = 录像中还没有事件 { $seq }
there-are-n-matchers-max-at-most = 有 { $n } 个匹配条件，最多 { $max } 个
this-meets-every-alert-name-a-label-that-an-alert-must-have = 这会匹配所有告警；请写一个告警必须具有的标签
this-recording-name = 此录像  { $name }
this-run = 本次运行
this-run-is-not-recorded-choose-another-recording = 本次运行没有录像：请选择另一个
this-run-as-it-is-recorded = 本次运行的录像
z-silences-a-acknowledges-by-who = z 静默，a 确认，操作人 { $who }
file-was-changed-on-the-disk-meanwhile-and-stays-so-what-you-wrote-is-in-path = { $file } 在此期间被改动，保持改动后的样子；你写的内容在 { $path }
file-was-changed-on-the-disk-meanwhile-and-stays-so-what-you-wrote-is-lost-why = { $file } 在此期间被改动，保持改动后的样子；你写的内容丢失了：{ $why }
letter-id-until-until-left-left-by-who-comment-matchers-n-now = { $letter } { $id } 至 { $until }（还剩 { $left }），{ $who }：{ $comment } [{ $matchers }]（现在 { $n } 条）
n-more-are-not-listed = 另有 { $n } 条未列出
