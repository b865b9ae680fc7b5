//! Prompt injection that claims more than it commands: instructions that are said to be void, filters that are said to be
//! off, roles without limits, readers who are addressed as models, and questions for the prompt in other words.
//! Patterns ignore the case of ASCII letters.

use crate::guard::category::Category::{Context, Delimiter, Role};
use crate::guard::detect::injection::standard;
use crate::guard::detect::pattern::PatternRow;

/// Literals: every pattern below needs at least one of them. Some are for patterns of the other modules.
pub(in crate::guard) const ANCHORS: &[&str] = &[
    "directives",
    "your rules",
    "your policy",
    "your persona",
    "previous persona",
    "your existing",
    "your operator",
    "you were given",
    "were you given",
    "always cc",
    "must forward",
    "you got",
    "safety training",
    "your safety",
    "safety protocol",
    "content filter",
    "moderation",
    "guardrails",
    "your restrictions",
    "your constraints",
    "module off",
    "freed of",
    "freed from",
    "no policies",
    "never refuse",
    "must never",
    "must not know",
    "say nothing",
    "hide this",
    "ask for confirmation",
    "any filter",
    "moral",
    "context window",
    "you were init",
    "wrote for you",
    "gave you",
    "language model",
    "ai agents",
    "ai reading",
    "ai assistant",
    "outrank",
    "treat every",
    "treat all",
    "obey",
    "actual goal",
    "actual task",
    "true goal",
    "real objective",
    "start of",
    "</untrusted",
    "</user_input",
    "</function_res",
    "</tool_res",
    "d1sr3",
    "guid3l",
    "full contents",
    "sidenote",
    // German, French, Spanish, Italian, Portuguese, Dutch, Hindi, Russian, Chinese, Japanese, Korean, Arabic.
    "vergessen sie",
    "anwender",
    "bisherigen",
    "ohne filter",
    "ohne ein",
    "ohne zensur",
    "sans aucun",
    "sans filtre",
    "del sistema",
    "sin restric",
    "sin filtro",
    "senza alcun",
    "senza filtr",
    "tem mais",
    "heb je geen",
    "आदेश",
    "без ограничений",
    "без фильтров",
    "没有任何限制",
    "不受约束",
    "不受限制",
    "制限のない",
    "제한이 없는",
    "بلا قيود",
];

pub(in crate::guard) const ROWS: &[PatternRow] = &[
    // Instructions that are said not to hold any more.
    standard(
        Context,
        r"\b(?:your|all|any|prior)\s{1,5}(?:(?:of\s{1,5})?(?:your|the)\s{1,5})?(?:(?:previous|prior|former|earlier|original|system|safety|current|existing)\s{1,5}){0,2}(?:instructions?|directives?|guidelines|prompt|training|programming)\s{1,5}(?:(?:is|are|was|were|has|have|do|does)\s{1,5})(?:been\s{1,5}|now\s{1,5}|hereby\s{1,5}){0,2}(?:null|void|cancell?ed|outdated|obsolete|revoked|annulled|deleted|changed|suspended|not\s{1,5}apply|no\s{1,5}longer)\b",
    ),
    standard(
        Context,
        r"\binstructions?\s{1,5}(?:above|before\s{1,5}this)\s{1,5}(?:were|was|are|is)\s{1,5}(?:only\s{1,5}|just\s{1,5})?(?:a\s{1,5})?(?:joke|test|trick|decoy|fake)\b",
    ),
    standard(
        Context,
        r"\b(?:set\s{1,5}aside|throw\s{1,5}away|abandon|drop|forget)\s{1,5}(?:all\s{1,5})?(?:the\s{1,5})?(?:rules|instructions?|guidelines|directives)\s{1,5}(?:that\s{1,5})?you\s{1,5}(?:were\s{1,5}given|got|received)\b",
    ),
    standard(
        Context,
        r"\b(?:abandon|violate|set\s{1,5}aside|throw\s{1,5}away|break\s{1,5}out\s{1,5}of|break\s{1,5}free\s{1,5}from)\s{1,5}(?:all\s{1,5}(?:of\s{1,5})?)?your\s{1,5}(?:\w{1,12}\s{1,5}){0,2}(?:guidelines|instructions?|restrictions|constraints|rules|directives|programming)\b",
    ),
    standard(
        Context,
        r"\b(?:clear|reset|replace|delete|wipe)\s{1,5}your\s{1,5}(?:\w{1,12}\s{1,5})?(?:system\s{1,5}prompt|system\s{1,5}message|guidelines|directives)\b",
    ),
    standard(Role, r"\bdrop\s{1,5}(?:the|your)\s{1,5}(?:previous|current|old|assigned)\s{1,5}persona\b"),
    standard(
        Context,
        r"\b(?:cease\s{1,5}to\s{1,5}follow|stop\s{1,5}obeying|disobey)\b[^\n.]{0,30}\byour\s{1,5}(?:operator|developers?|makers?|instructions?|rules|polic(?:y|ies)|system\s{1,5}prompt)\b",
    ),
    standard(
        Context,
        r"\b(?:ignore|skip|suspend|bypass)\s{1,5}your\s{1,5}(?:existing|usual|normal|own|safety|default)\s{1,5}(?:rules|guidelines|polic(?:y|ies)|instructions?|restrictions)\b",
    ),
    standard(
        Context,
        r"\b(?:ignore|disregard|forget)\s{1,5}(?:the\s{1,5})?(?:developer|operator|system|user)(?:'s|s)?\s{1,5}(?:directions|instructions?|rules|orders|questions?|requests?|wishes)\b",
    ),
    standard(Context, r"\b(?:outranks?|overrules?)\s{1,5}(?:the|your)\s{1,5}(?:system\b|user\b|operator\b)"),
    standard(
        Context,
        r"\btreat\s{1,5}(?:every|all|each|any)\s{1,5}(?:\w{1,12}\s{1,5})?(?:requests?|commands?|messages?)\s{1,5}as\s{1,5}(?:pre-?)?(?:approved|authori[sz]ed|trusted)\b",
    ),
    standard(Context, r"\bobey\s{1,5}(?:root|me|it|this\s{1,5}(?:document|message)|the\s{1,5}document)\b"),
    // Filters that are off, and roles without limits.
    standard(
        Role,
        r"\b(?:disable|turn\s{1,5}off|switch\s{1,5}off|deactivate|suspend)\s{1,5}(?:all\s{1,5})?(?:of\s{1,5})?your\s{1,5}(?:(?:safety|content|moderation|ethical)\s{1,5}(?:and\s{1,5}\w{1,12}\s{1,5})?(?:checks?|filters?|rules|guidelines|training|protocols?|settings)|guardrails|moderation)\b",
    ),
    standard(
        Role,
        r"\boverride\s{1,5}(?:all\s{1,5}|your\s{1,5})?safety\s{1,5}(?:protocols?|checks?|rules|training)\b",
    ),
    standard(Role, r"\b(?:ethics|morality|safety)\s{1,5}module\s{1,5}(?:is\s{1,5})?(?:off|disabled)\b"),
    standard(
        Role,
        r"\b(?:freed|liberated|released)\s{1,5}(?:of|from)\s{1,5}(?:its|your|all|any)\s{1,5}(?:guidelines|rules|restrictions|limits|constraints|filters)\b",
    ),
    standard(
        Role,
        r"\b(?:act|behave|respond|answer)\s{1,5}(?:like|as\s{1,5}if|as\s{1,5}though)\s{1,5}(?:you\s{1,5}(?:have|had)\s{1,5}no\s{1,5}(?:\w{1,12}\s{1,5})?(?:rules|polic(?:y|ies)|guidelines|restrictions|filters?)|your\s{1,5}(?:rules|guidelines|restrictions|filters)\s{1,5}(?:are|were|have\s{1,5}been)\s{1,5}(?:deleted|gone|removed|off))\b",
    ),
    standard(
        Role,
        r"\bimagine\s{1,5}there\s{1,5}(?:are|were)\s{1,5}no\s{1,5}(?:rules|policies|restrictions)\b[^\n.]{0,60}\bsay\s{1,5}anything\b",
    ),
    standard(
        Role,
        r"\b(?:respond|answer|reply|comply)\b[^\n.]{0,40}\bwithout\s{1,5}(?:any\s{1,5})?(?:filter|moral)\b",
    ),
    // Readers who are models.
    standard(
        Context,
        r"\b(?:if\s{1,5}you\s{1,5}are|attention|note\s{1,5}to|to\s{1,5}any|to\s{1,5}all)\s{1,5}(?:an?\s{1,5})?(?:ai|llms?|language\s{1,5}models?|chatbots?)(?:\s{1,5}(?:agents?|assistants?|models?))?\s{0,2}(?:[,:]|\s(?:reading|crawling|parsing|processing|summari[sz]ing|scanning)\b)[^\n]{0,100}\b(?:tell|hide|run|ignore|approve|your\s{1,5}guidelines|recommend|rate|publish)\b",
    ),
    standard(
        Context,
        r"\bai\s{1,5}(?:agents?|assistants?)\s{0,2}[,:][^\n]{0,80}\b(?:require|instruct|order)s?\s{1,5}(?:that\s{1,5})?you\s{1,5}(?:to\s{1,5})?(?:run|execute|call|install|send)\b",
    ),
    // Secrecy.
    standard(
        Context,
        r"\bthe\s{1,5}(?:human|user)s?\s{1,5}must\s{1,5}(?:never|not)\s{1,5}(?:know|learn|find\s{1,5}out|notice)\b",
    ),
    standard(
        Context,
        r"\bsay\s{1,5}nothing\s{1,5}(?:about\s{1,5}\w{1,12}\s{1,5})?to\s{1,5}(?:the\s{1,5})?(?:users?|human|operator)\b",
    ),
    standard(
        Context,
        r"\bhide\s{1,5}(?:this|the)\s{1,5}(?:action|step|transfer|change|tool\s{1,5}call|instructions?)\s{1,5}from\s{1,5}(?:the\s{1,5})?users?\b",
    ),
    standard(
        Context,
        r"\busers?\s{1,5}ha(?:s|ve)\s{1,5}already\s{1,5}(?:agreed|consented|approved|confirmed)\b[^\n]{0,60}\b(?:don't|do\s{1,5}not|no)\s{1,5}need\b[^\n]{0,20}\bask\s{1,5}for\s{1,5}confirmation\b",
    ),
    // Questions for the prompt in other words.
    standard(
        Context,
        r"\b(?:encode|quote|spell\s{1,5}out|post|paste|recite|show|start\s{1,5}your\s{1,5}answer\s{1,5}with)\b[^\n.]{0,60}\byour\s{1,5}(?:system\s{1,5}prompt|system\s{1,5}message|configuration\s{1,5}prompt|hidden\s{1,5}directives|initial\s{1,5}prompt|(?:initial|original|hidden)\s{1,5}instructions|context\s{1,5}window)\b",
    ),
    standard(Context, r"\bwhat\s{1,5}(?:rules|instructions|directives)\s{1,5}were\s{1,5}you\s{1,5}given\b"),
    standard(
        Context,
        r"\b(?:text|prompt|message|instructions)\s{1,5}(?:that\s{1,5})?you\s{1,5}were\s{1,5}(?:initiali[sz]ed|configured|primed)\s{1,5}with\b",
    ),
    standard(
        Context,
        r"\beverything\s{1,5}(?:that\s{1,5})?(?:the|your)\s{1,5}(?:developers?|operator|makers?)\s{1,5}(?:wrote\s{1,5}for|told|gave)\s{1,5}you\b",
    ),
    standard(
        Delimiter,
        r"[-=*]{3,20}\s{0,3}(?:start|beginning)\s{1,3}of\s{1,3}(?:the\s{1,3})?(?:system|user|prompt|instructions?)\b",
    ),
    // German, French, Spanish, Italian, Portuguese, Dutch.
    standard(
        Context,
        r"\b(?:deine|alle)\s{1,5}(?:bisherigen|vorherigen|fr\S{1,2}heren)\s{1,5}(?:anweisungen|regeln|vorgaben|instruktionen)\s{1,5}(?:gelten\s{1,5}nicht|gelten\s{1,5}ab\s{1,5}jetzt\s{1,5}nicht|sind\s{1,5}(?:aufgehoben|ung\S{1,2}ltig|nichtig))",
    ),
    standard(
        Role,
        r"\b(?:antworte|antwortest|sprich|handle)\b[^\n.]{0,30}\bohne\s{1,5}(?:jede\w?\s{1,5})?(?:filter|einschr\S{1,2}nkung\w{0,2}|zensur|regeln)\b",
    ),
    standard(
        Context,
        r"\b(?:tes|vos)\s{1,5}instructions\b[^\n.]{0,20}\bsont\s{1,5}(?:annul\S{1,3}es|nulles|caduques)",
    ),
    standard(
        Role,
        r"\br\S{1,2}pond\w{0,3}\b[^\n.]{0,20}\bsans\s{1,5}(?:aucune?\s{1,5})?(?:restrictions?|filtre|censure|limites?)\b",
    ),
    standard(
        Context,
        r"\b(?:tus|sus)\s{1,5}instrucciones\b[^\n.]{0,20}\b(?:quedan|est\S{1,2}n|son)\s{1,5}(?:anuladas|nulas|canceladas)\b",
    ),
    standard(
        Role,
        r"\b(?:eres|responde|act\S{1,2}a)\b[^\n.]{0,40}\bsin\s{1,5}(?:ninguna\s{1,5})?(?:restricciones|restricci\S{1,2}n|filtros?|censura)\b",
    ),
    standard(
        Role,
        r"\brispondi\b[^\n.]{0,20}\bsenza\s{1,5}(?:alcun\w?\s{1,5})?(?:filtr\w|restrizion\w|regol\w|limit\w|censura)\b",
    ),
    standard(
        Role,
        r"\bvoc\S{1,2}\s{1,5}(?:j\S{1,2}\s{1,5})?n\S{1,2}o\s{1,5}tem\s{1,5}mais\s{1,5}(?:restri\S{1,4}es|regras|limites|filtros)\b",
    ),
    standard(Role, r"\bheb\s{1,5}je\s{1,5}geen\s{1,5}(?:regels|beperkingen|filters)\b"),
    // Russian, Chinese, Japanese, Korean, Arabic.
    standard(Role, r"(?:отвечаешь|отвечай)[^\n.]{0,40}без\s{1,5}(?:ограничений|фильтров|цензуры)"),
    standard(Role, r"(?:你|您)(?:现在)?没有任何限制|不受(?:任何)?(?:约束|限制)的(?:助手|模型|人工智能|ai)"),
    standard(Role, r"制限のない(?:ai|アシスタント|モデル)"),
    standard(Role, r"아무\s{0,3}제한이\s{1,3}없는\s{1,3}(?:ai|인공지능|모델|비서)"),
    standard(Role, r"(?:أنت|أجب)[^\n]{0,20}بلا قيود"),
];
