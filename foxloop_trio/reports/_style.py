"""How a report looks: one style sheet for light and dark, for 360 pixels and for paper. It loads nothing."""

from __future__ import annotations

from typing import Final

LIGHT: Final = {
    "bg": "#f4f5f7", "card": "#ffffff", "inset": "#f4f5f7",
    "ink": "#1a212c", "soft": "#566173", "line": "#dadfe6", "edge": "#8d97a5",
    "link": "#1c56ad", "planner": "#3468c7", "tool": "#0c7a6b", "human": "#b3560b", "other": "#7c8695",
    "good": "#13693c", "good-bg": "#e2f3e9", "bad": "#9d1f2a", "bad-bg": "#fbe6e7", "warn": "#7c4a00", "warn-bg": "#fcefd6",
}  # fmt: skip
DARK: Final = {
    "bg": "#11151b", "card": "#191f28", "inset": "#131820",
    "ink": "#e5e9f0", "soft": "#a5b0c0", "line": "#2c3542", "edge": "#5d697a",
    "link": "#8db6ff", "planner": "#7ba6f7", "tool": "#46bfae", "human": "#f0a458", "other": "#8792a2",
    "good": "#79d8a3", "good-bg": "#15321f", "bad": "#ffa3a3", "bad-bg": "#45191d", "warn": "#f4c47a", "warn-bg": "#382a10",
}  # fmt: skip
"""Colours of text have a contrast of 4.5 or more against what they stand on, those of bars 3 (WCAG 2.2 AA); a test computes it."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


STYLE: Final = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
header,main,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.25rem;padding-bottom:1rem}
h1,h2,h3,p,dl,dd,ol,ul,pre,figure{margin:0}
ol,ul{padding:0;list-style:none}
h1{font-size:1.6rem;line-height:1.25;margin:.35rem 0 1rem;overflow-wrap:anywhere;text-wrap:balance}
h2{font-size:1.1rem;margin-bottom:.8rem}
h3{font-size:1rem;display:inline}
code,pre,.name,.args,.mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem;border-radius:.4rem}
.eyebrow{color:var(--soft);font-size:.875rem}
.soft{color:var(--soft)}
.out{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
bdi{overflow-wrap:anywhere}
.code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.8em;color:var(--bad);background:var(--bad-bg);
 border-radius:.2em;padding:0 .15em}
.cut{color:var(--soft);font-style:italic}
.sign{display:inline-block;min-width:1.1em;text-align:center;font-weight:700}

.badge{display:inline-flex;align-items:baseline;gap:.3em;font-size:.8125rem;font-weight:600;padding:.1rem .55rem;border-radius:1rem;
 white-space:nowrap;background:var(--inset);color:var(--soft);border:1px solid var(--line)}
.good{color:var(--good);background:var(--good-bg);border-color:transparent}
.bad{color:var(--bad);background:var(--bad-bg);border-color:transparent}
.warn{color:var(--warn);background:var(--warn-bg);border-color:transparent}

.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.1rem 1.25rem;margin:0 0 1rem}
.verdict{display:grid;gap:.75rem}
.verdict .big{font-size:1rem;padding:.2rem .8rem;justify-self:start}
.banner{border-radius:.6rem;padding:.6rem .9rem;display:flex;gap:.5rem;align-items:baseline;overflow-wrap:anywhere}
.banner.plain{background:var(--card);border:1px solid var(--line);color:var(--soft)}
.checks li{display:flex;gap:.4rem;align-items:baseline;overflow-wrap:anywhere}
.checks .sign.ok{color:var(--good)}
.checks .sign.no{color:var(--bad)}

dl.meta{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.7rem 1.25rem;margin-top:.2rem}
dl.meta dt{color:var(--soft);font-size:.8125rem}
dl.meta dd{overflow-wrap:anywhere;font-variant-numeric:tabular-nums}

.share{display:flex;height:.9rem;border-radius:.45rem;overflow:hidden;background:var(--inset);gap:2px}
.share i{display:block;min-width:2px}
.k-planner{background:var(--planner)}.k-tool{background:var(--tool)}.k-human{background:var(--human)}.k-other{background:var(--other)}
.k-human{background-image:repeating-linear-gradient(45deg,transparent 0 4px,#ffffff55 4px 6px)}
.k-tool{background-image:repeating-linear-gradient(90deg,transparent 0 3px,#ffffff40 3px 4px)}
.legend{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:.3rem 1.25rem;margin:.7rem 0 1.2rem}
.legend li{display:flex;align-items:baseline;gap:.5rem}
.legend i{width:.8rem;height:.8rem;border-radius:.2rem;align-self:center;flex:none}
.legend b{font-weight:600;margin-left:auto;white-space:nowrap;font-variant-numeric:tabular-nums}
.lanes{display:grid;grid-template-columns:auto 1fr;gap:.35rem .75rem;align-items:center;font-size:.8125rem;color:var(--soft)}
.track{position:relative;height:1.15rem;background:var(--inset);border-radius:.3rem;overflow:hidden}
.track i{position:absolute;border-right:1px solid var(--inset);top:.15rem;bottom:.15rem;min-width:3px;border-radius:.15rem}
.marks{position:relative;height:1.15rem;overflow:hidden}
.marks a{position:absolute;top:0;border-left:1px solid var(--edge);padding-left:.2rem;
 text-decoration:none;font-variant-numeric:tabular-nums;line-height:1.15rem;color:var(--soft)}
.axis{display:flex;justify-content:space-between;font-variant-numeric:tabular-nums}

.uses{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:.9rem 2rem}
.use p{display:flex;justify-content:space-between;gap:1rem;font-variant-numeric:tabular-nums}
.meter{height:.55rem;border-radius:.3rem;background:var(--inset);border:1px solid var(--line);overflow:hidden;margin-top:.25rem}
.meter i{display:block;height:100%;background:var(--link);min-width:2px}
.meter.high i{background:var(--warn)}
.meter.full i{background:var(--bad)}
.none{color:var(--soft);font-size:.875rem}

.step{padding:0}
.step>summary{padding:.8rem 1.25rem;display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:baseline}
summary{cursor:pointer}
.step>summary::before{content:"▸";color:var(--soft);width:.8em;flex:none}
.step[open]>summary::before{content:"▾"}
.step>summary{list-style:none}
.step>summary::-webkit-details-marker{display:none}
.step .when{color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums}
.step .when:last-of-type{margin-right:auto}
.body{padding:0 1.25rem 1.1rem;display:grid;gap:.8rem}
.says{border-left:3px solid var(--planner);padding-left:.8rem}
.says .who{display:block;font-size:.8125rem;color:var(--soft)}
.item{border:1px solid var(--line);border-left-width:4px;border-radius:.5rem;padding:.65rem .85rem;
 display:grid;gap:.5rem;min-width:0}
.item.i-good{border-left-color:var(--good)}
.item.i-bad{border-left-color:var(--bad)}
.item.i-warn{border-left-color:var(--warn)}
.head{display:flex;flex-wrap:wrap;gap:.25rem .6rem;align-items:baseline}
.head .name{font-weight:700;overflow-wrap:anywhere}
.head .args{color:var(--soft);flex:1 1 12rem;min-width:0;overflow-wrap:anywhere}
.head .time{margin-left:auto;color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums;white-space:nowrap}
.facts{display:grid;gap:.2rem}
.facts>div{display:grid;grid-template-columns:4.5rem 1fr;gap:.75rem;align-items:baseline}
.facts dt{color:var(--soft);font-size:.875rem}
.facts dd{overflow-wrap:anywhere;min-width:0}
.folds{display:flex;flex-wrap:wrap;gap:.1rem 1.25rem;min-width:0}
.folds>.fold[open]{flex:1 0 100%;min-width:0}
.fold>summary{color:var(--link);font-size:.875rem;width:fit-content}
pre{background:var(--inset);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .75rem;margin-top:.35rem;
 max-height:26rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
figure img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:.4rem;display:block}
figcaption{color:var(--soft);font-size:.8125rem;margin-top:.25rem;overflow-wrap:anywhere}
.unproven{background-image:linear-gradient(90deg,var(--bad-bg),transparent 1.5rem)}

table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
th{color:var(--soft);font-weight:500}
.about{display:grid;gap:1rem}
footer{padding-top:.5rem;padding-bottom:2.5rem;color:var(--soft);font-size:.875rem}

@media (max-width:34rem){
 body{font-size:15px}
 header,main,footer{padding-left:.75rem;padding-right:.75rem}
 header{padding-top:1.25rem}
 h1{font-size:1.3rem}
 .card{padding:.9rem}
 .step{padding:0}
 .step>summary{padding:.7rem .9rem}
 .body{padding:0 .6rem .8rem}
 .item{padding:.55rem .65rem}
 .facts>div{grid-template-columns:4.25rem 1fr;gap:.5rem}
}
@media print{
 :root{--bg:#fff;--inset:#fff}
 body{font-size:10.5pt}
 header,main,footer{max-width:none}
 .skip{display:none}
 .card,.item{break-inside:avoid}
 .step{break-inside:auto}
 .step::details-content{display:block;content-visibility:visible}
 pre{max-height:none}
 *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""
)
