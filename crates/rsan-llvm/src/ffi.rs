//! The functions of LLVM's C API that are used, as a table that is filled when a library is loaded.
//!
//! Only functions that every version from 14 on exports under one signature are required; what newer versions have is
//! optional. Enumerations of the C API never change their numbers; they are constants here, because a newer LLVM may return
//! a number that no enum of ours has.

use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_ulonglong, c_void};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) struct $name(*mut c_void);

        impl $name {
            /// `None` if LLVM gave null.
            #[allow(dead_code)]
            pub(crate) fn get(self) -> Option<Self> {
                (!self.0.is_null()).then_some(self)
            }

            #[allow(dead_code)]
            pub(crate) const NULL: Self = Self(std::ptr::null_mut());
        }
    )*};
}

handles! {
    /// `LLVMContextRef`
    ContextRef;
    /// `LLVMModuleRef`
    ModuleRef;
    /// `LLVMValueRef`
    ValueRef;
    /// `LLVMTypeRef`
    TypeRef;
    /// `LLVMBasicBlockRef`
    BlockRef;
    /// `LLVMMetadataRef`
    MetadataRef;
    /// `LLVMMemoryBufferRef`
    BufferRef;
    /// `LLVMTargetDataRef`
    LayoutRef;
    /// `LLVMBuilderRef`
    BuilderRef;
    /// `LLVMAttributeRef`
    AttributeRef;
    /// `LLVMDiagnosticInfoRef`
    DiagnosticRef;
    /// `LLVMPassBuilderOptionsRef`
    PassOptionsRef;
    /// `LLVMTargetMachineRef`
    MachineRef;
    /// `LLVMTargetRef`
    TargetRef;
    /// `LLVMErrorRef`
    ErrorRef;
}

/// Gives the address of a symbol, if the library has it.
pub(crate) type Lookup<'a> = &'a dyn Fn(&CStr) -> Option<*mut c_void>;

macro_rules! api {
    (
        required { $($name:ident = $symbol:literal ($($arg:ty),*) $(-> $ret:ty)?;)* }
        optional { $($oname:ident = $osymbol:literal ($($oarg:ty),*) $(-> $oret:ty)?;)* }
    ) => {
        /// The functions, by what they do.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $(pub(crate) $oname: Option<unsafe extern "C" fn($($oarg),*) $(-> $oret)?>,)*
        }

        impl Api {
            /// Fills the table.
            ///
            /// # Errors
            /// The name of a required function that the library does not have.
            ///
            /// # Safety
            /// The addresses must be those of LLVM's functions of these names.
            pub(crate) unsafe fn load(lookup: Lookup<'_>) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($name: {
                        let address = lookup($symbol).ok_or($symbol)?;
                        // SAFETY: the caller says that this is the function, and its signature is LLVM's.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) $(-> $ret)?>(address) }
                    },)*
                    // SAFETY: as above.
                    $($oname: lookup($osymbol).map(|address| unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($oarg),*) $(-> $oret)?>(address)
                    }),)*
                })
            }
        }
    };
}

/// What LLVM calls with a message about a module.
pub(crate) type DiagnosticHandler = extern "C" fn(DiagnosticRef, *mut c_void);

api! {
    required {
        dispose_message = c"LLVMDisposeMessage"(*mut c_char);

        context_create = c"LLVMContextCreate"() -> ContextRef;
        context_dispose = c"LLVMContextDispose"(ContextRef);
        set_diagnostic_handler = c"LLVMContextSetDiagnosticHandler"(ContextRef, DiagnosticHandler, *mut c_void);
        diagnostic_description = c"LLVMGetDiagInfoDescription"(DiagnosticRef) -> *mut c_char;
        diagnostic_severity = c"LLVMGetDiagInfoSeverity"(DiagnosticRef) -> c_int;
        buffer_copy = c"LLVMCreateMemoryBufferWithMemoryRangeCopy"(*const c_char, usize, *const c_char) -> BufferRef;
        buffer_start = c"LLVMGetBufferStart"(BufferRef) -> *const c_char;
        buffer_size = c"LLVMGetBufferSize"(BufferRef) -> usize;
        buffer_dispose = c"LLVMDisposeMemoryBuffer"(BufferRef);

        parse_ir = c"LLVMParseIRInContext"(ContextRef, BufferRef, *mut ModuleRef, *mut *mut c_char) -> c_int;
        module_dispose = c"LLVMDisposeModule"(ModuleRef);
        verify_module = c"LLVMVerifyModule"(ModuleRef, c_int, *mut *mut c_char) -> c_int;
        link_modules = c"LLVMLinkModules2"(ModuleRef, ModuleRef) -> c_int;
        print_module = c"LLVMPrintModuleToString"(ModuleRef) -> *mut c_char;
        write_bitcode = c"LLVMWriteBitcodeToMemoryBuffer"(ModuleRef) -> BufferRef;
        target_from_triple = c"LLVMGetTargetFromTriple"(*const c_char, *mut TargetRef, *mut *mut c_char) -> c_int;
        machine_create = c"LLVMCreateTargetMachine"(TargetRef, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> MachineRef;
        machine_dispose = c"LLVMDisposeTargetMachine"(MachineRef);
        machine_emit = c"LLVMTargetMachineEmitToMemoryBuffer"(MachineRef, ModuleRef, c_int, *mut *mut c_char, *mut BufferRef) -> c_int;
        triple = c"LLVMGetTarget"(ModuleRef) -> *const c_char;
        section = c"LLVMGetSection"(ValueRef) -> *const c_char;
        set_section = c"LLVMSetSection"(ValueRef, *const c_char);
        set_linkage = c"LLVMSetLinkage"(ValueRef, c_int);
        function_add = c"LLVMAddFunction"(ModuleRef, *const c_char, TypeRef) -> ValueRef;
        global_add = c"LLVMAddGlobal"(ModuleRef, TypeRef, *const c_char) -> ValueRef;
        global_delete = c"LLVMDeleteGlobal"(ValueRef);
        set_initializer = c"LLVMSetInitializer"(ValueRef, ValueRef);
        run_passes = c"LLVMRunPasses"(ModuleRef, *const c_char, MachineRef, PassOptionsRef) -> ErrorRef;
        pass_options_create = c"LLVMCreatePassBuilderOptions"() -> PassOptionsRef;
        pass_options_dispose = c"LLVMDisposePassBuilderOptions"(PassOptionsRef);
        error_message = c"LLVMGetErrorMessage"(ErrorRef) -> *mut c_char;
        error_message_dispose = c"LLVMDisposeErrorMessage"(*mut c_char);
        data_layout = c"LLVMGetModuleDataLayout"(ModuleRef) -> LayoutRef;
        pointer_size = c"LLVMPointerSize"(LayoutRef) -> c_uint;
        store_size = c"LLVMStoreSizeOfType"(LayoutRef, TypeRef) -> c_ulonglong;
        abi_size = c"LLVMABISizeOfType"(LayoutRef, TypeRef) -> c_ulonglong;
        offset_of_element = c"LLVMOffsetOfElement"(LayoutRef, TypeRef, c_uint) -> c_ulonglong;

        first_function = c"LLVMGetFirstFunction"(ModuleRef) -> ValueRef;
        next_function = c"LLVMGetNextFunction"(ValueRef) -> ValueRef;
        first_global = c"LLVMGetFirstGlobal"(ModuleRef) -> ValueRef;
        next_global = c"LLVMGetNextGlobal"(ValueRef) -> ValueRef;
        first_alias = c"LLVMGetFirstGlobalAlias"(ModuleRef) -> ValueRef;
        next_alias = c"LLVMGetNextGlobalAlias"(ValueRef) -> ValueRef;
        aliasee = c"LLVMAliasGetAliasee"(ValueRef) -> ValueRef;

        value_name = c"LLVMGetValueName2"(ValueRef, *mut usize) -> *const c_char;
        value_kind = c"LLVMGetValueKind"(ValueRef) -> c_int;
        type_of = c"LLVMTypeOf"(ValueRef) -> TypeRef;
        print_value = c"LLVMPrintValueToString"(ValueRef) -> *mut c_char;
        operand_count = c"LLVMGetNumOperands"(ValueRef) -> c_int;
        operand = c"LLVMGetOperand"(ValueRef, c_uint) -> ValueRef;
        const_int = c"LLVMConstIntGetSExtValue"(ValueRef) -> c_longlong;
        const_opcode = c"LLVMGetConstOpcode"(ValueRef) -> c_int;
        gep_source_type = c"LLVMGetGEPSourceElementType"(ValueRef) -> TypeRef;

        is_declaration = c"LLVMIsDeclaration"(ValueRef) -> c_int;
        linkage = c"LLVMGetLinkage"(ValueRef) -> c_int;
        is_global_constant = c"LLVMIsGlobalConstant"(ValueRef) -> c_int;
        is_thread_local = c"LLVMIsThreadLocal"(ValueRef) -> c_int;
        initializer = c"LLVMGetInitializer"(ValueRef) -> ValueRef;
        parameter_count = c"LLVMCountParams"(ValueRef) -> c_uint;
        parameter = c"LLVMGetParam"(ValueRef, c_uint) -> ValueRef;
        attribute_kind = c"LLVMGetEnumAttributeKindForName"(*const c_char, usize) -> c_uint;
        function_attribute = c"LLVMGetEnumAttributeAtIndex"(ValueRef, c_uint, c_uint) -> AttributeRef;
        call_attribute = c"LLVMGetCallSiteEnumAttribute"(ValueRef, c_uint, c_uint) -> AttributeRef;
        attribute_value = c"LLVMGetEnumAttributeValue"(AttributeRef) -> u64;

        attribute_create = c"LLVMCreateEnumAttribute"(ContextRef, c_uint, u64) -> AttributeRef;
        attribute_create_text = c"LLVMCreateStringAttribute"(ContextRef, *const c_char, c_uint, *const c_char, c_uint) -> AttributeRef;
        attribute_add = c"LLVMAddAttributeAtIndex"(ValueRef, c_uint, AttributeRef);
        attribute_remove = c"LLVMRemoveEnumAttributeAtIndex"(ValueRef, c_uint, c_uint);

        type_kind = c"LLVMGetTypeKind"(TypeRef) -> c_int;
        int_width = c"LLVMGetIntTypeWidth"(TypeRef) -> c_uint;
        element_type = c"LLVMGetElementType"(TypeRef) -> TypeRef;
        struct_count = c"LLVMCountStructElementTypes"(TypeRef) -> c_uint;
        struct_type_at = c"LLVMStructGetTypeAtIndex"(TypeRef, c_uint) -> TypeRef;
        type_is_sized = c"LLVMTypeIsSized"(TypeRef) -> c_int;

        first_block = c"LLVMGetFirstBasicBlock"(ValueRef) -> BlockRef;
        next_block = c"LLVMGetNextBasicBlock"(BlockRef) -> BlockRef;
        terminator = c"LLVMGetBasicBlockTerminator"(BlockRef) -> ValueRef;
        first_instruction = c"LLVMGetFirstInstruction"(BlockRef) -> ValueRef;
        next_instruction = c"LLVMGetNextInstruction"(ValueRef) -> ValueRef;
        previous_instruction = c"LLVMGetPreviousInstruction"(ValueRef) -> ValueRef;
        opcode = c"LLVMGetInstructionOpcode"(ValueRef) -> c_int;
        successor_count = c"LLVMGetNumSuccessors"(ValueRef) -> c_uint;
        successor = c"LLVMGetSuccessor"(ValueRef, c_uint) -> BlockRef;
        called_value = c"LLVMGetCalledValue"(ValueRef) -> ValueRef;
        argument_count = c"LLVMGetNumArgOperands"(ValueRef) -> c_uint;
        incoming_count = c"LLVMCountIncoming"(ValueRef) -> c_uint;
        incoming_value = c"LLVMGetIncomingValue"(ValueRef, c_uint) -> ValueRef;
        index_count = c"LLVMGetNumIndices"(ValueRef) -> c_uint;
        indices = c"LLVMGetIndices"(ValueRef) -> *const c_uint;
        ordering = c"LLVMGetOrdering"(ValueRef) -> c_int;
        success_ordering = c"LLVMGetCmpXchgSuccessOrdering"(ValueRef) -> c_int;
        failure_ordering = c"LLVMGetCmpXchgFailureOrdering"(ValueRef) -> c_int;
        is_single_thread = c"LLVMIsAtomicSingleThread"(ValueRef) -> c_int;
        is_volatile = c"LLVMGetVolatile"(ValueRef) -> c_int;
        is_weak = c"LLVMGetWeak"(ValueRef) -> c_int;
        alignment = c"LLVMGetAlignment"(ValueRef) -> c_uint;
        allocated_type = c"LLVMGetAllocatedType"(ValueRef) -> TypeRef;
        icmp_predicate = c"LLVMGetICmpPredicate"(ValueRef) -> c_int;

        metadata_kind_id = c"LLVMGetMDKindIDInContext"(ContextRef, *const c_char, c_uint) -> c_uint;
        metadata_of = c"LLVMGetMetadata"(ValueRef, c_uint) -> ValueRef;
        is_md_node = c"LLVMIsAMDNode"(ValueRef) -> ValueRef;
        is_md_string = c"LLVMIsAMDString"(ValueRef) -> ValueRef;
        md_operand_count = c"LLVMGetMDNodeNumOperands"(ValueRef) -> c_uint;
        md_operands = c"LLVMGetMDNodeOperands"(ValueRef, *mut ValueRef);
        md_string = c"LLVMGetMDString"(ValueRef, *mut c_uint) -> *const c_char;
        metadata_as_value = c"LLVMMetadataAsValue"(ContextRef, MetadataRef) -> ValueRef;
        value_as_metadata = c"LLVMValueAsMetadata"(ValueRef) -> MetadataRef;
        metadata_kind = c"LLVMGetMetadataKind"(MetadataRef) -> c_uint;
        debug_location = c"LLVMInstructionGetDebugLoc"(ValueRef) -> MetadataRef;
        location_line = c"LLVMDILocationGetLine"(MetadataRef) -> c_uint;
        location_column = c"LLVMDILocationGetColumn"(MetadataRef) -> c_uint;
        location_scope = c"LLVMDILocationGetScope"(MetadataRef) -> MetadataRef;
        location_inlined_at = c"LLVMDILocationGetInlinedAt"(MetadataRef) -> MetadataRef;
        scope_file = c"LLVMDIScopeGetFile"(MetadataRef) -> MetadataRef;
        file_name = c"LLVMDIFileGetFilename"(MetadataRef, *mut c_uint) -> *const c_char;
        file_directory = c"LLVMDIFileGetDirectory"(MetadataRef, *mut c_uint) -> *const c_char;
        subprogram = c"LLVMGetSubprogram"(ValueRef) -> MetadataRef;
        subprogram_line = c"LLVMDISubprogramGetLine"(MetadataRef) -> c_uint;

        builder_create = c"LLVMCreateBuilderInContext"(ContextRef) -> BuilderRef;
        builder_dispose = c"LLVMDisposeBuilder"(BuilderRef);
        builder_before = c"LLVMPositionBuilderBefore"(BuilderRef, ValueRef);
        build_store = c"LLVMBuildStore"(BuilderRef, ValueRef, ValueRef) -> ValueRef;
        build_gep = c"LLVMBuildGEP2"(BuilderRef, TypeRef, ValueRef, *mut ValueRef, c_uint, *const c_char) -> ValueRef;
        build_fence = c"LLVMBuildFence"(BuilderRef, c_int, c_int, *const c_char) -> ValueRef;
        build_call = c"LLVMBuildCall2"(BuilderRef, TypeRef, ValueRef, *mut ValueRef, c_uint, *const c_char) -> ValueRef;
        build_rmw = c"LLVMBuildAtomicRMW"(BuilderRef, c_int, ValueRef, ValueRef, c_int, c_int) -> ValueRef;
        rmw_operation = c"LLVMGetAtomicRMWBinOp"(ValueRef) -> c_int;
        replace_uses = c"LLVMReplaceAllUsesWith"(ValueRef, ValueRef);
        void_type = c"LLVMVoidTypeInContext"(ContextRef) -> TypeRef;
        int32_type = c"LLVMInt32TypeInContext"(ContextRef) -> TypeRef;
        int_type = c"LLVMIntTypeInContext"(ContextRef, c_uint) -> TypeRef;
        int_value = c"LLVMConstInt"(TypeRef, c_ulonglong, c_int) -> ValueRef;
        function_type = c"LLVMFunctionType"(TypeRef, *mut TypeRef, c_uint, c_int) -> TypeRef;
        inline_assembly = c"LLVMGetInlineAsm"(TypeRef, *const c_char, usize, *const c_char, usize, c_int, c_int, c_int, c_int) -> ValueRef;
        set_alignment = c"LLVMSetAlignment"(ValueRef, c_uint);
        set_ordering = c"LLVMSetOrdering"(ValueRef, c_int);
        set_success_ordering = c"LLVMSetCmpXchgSuccessOrdering"(ValueRef, c_int);
        set_failure_ordering = c"LLVMSetCmpXchgFailureOrdering"(ValueRef, c_int);
        erase = c"LLVMInstructionEraseFromParent"(ValueRef);
    }
    optional {
        // A library may be built without a target of ours; reading does not need one.
        x86_info = c"LLVMInitializeX86TargetInfo"();
        x86_target = c"LLVMInitializeX86Target"();
        x86_machine_code = c"LLVMInitializeX86TargetMC"();
        x86_printer = c"LLVMInitializeX86AsmPrinter"();
        x86_parser = c"LLVMInitializeX86AsmParser"();
        // Since 16.
        version = c"LLVMGetVersion"(*mut c_uint, *mut c_uint, *mut c_uint);
        // Since 15; never called: 14 and 15 are told apart by it.
        set_opaque_pointers = c"LLVMContextSetOpaquePointers"(ContextRef, c_int);
    }
}

/// `LLVMAttributeFunctionIndex`
pub(crate) const FUNCTION_INDEX: c_uint = c_uint::MAX;
/// `LLVMObjectFile`
pub(crate) const OBJECT_FILE: c_int = 1;
/// `LLVMCodeGenLevelDefault`; `LLVMCodeGenLevelNone` is 0, the numbers between are levels.
pub(crate) const CODEGEN_DEFAULT: c_int = 2;
/// `LLVMRelocPIC`
pub(crate) const RELOC_PIC: c_int = 2;
/// `LLVMCodeModelDefault`
pub(crate) const CODE_MODEL_DEFAULT: c_int = 0;
/// `LLVMReturnStatusAction`
pub(crate) const RETURN_STATUS: c_int = 2;
/// `LLVMDSError`
pub(crate) const SEVERITY_ERROR: c_int = 0;
/// `LLVMIntEQ`
pub(crate) const ICMP_EQ: c_int = 32;
/// `LLVMIntNE`
pub(crate) const ICMP_NE: c_int = 33;

/// `LLVMTypeKind`, as far as it is looked at.
pub(crate) mod type_kind {
    use super::c_int;
    pub(crate) const HALF: c_int = 1;
    pub(crate) const DOUBLE: c_int = 3;
    pub(crate) const INTEGER: c_int = 8;
    pub(crate) const STRUCT: c_int = 10;
    pub(crate) const ARRAY: c_int = 11;
    pub(crate) const POINTER: c_int = 12;
    pub(crate) const VECTOR: c_int = 13;
    pub(crate) const SCALABLE_VECTOR: c_int = 17;
}

/// `LLVMValueKind`, as far as it is looked at.
pub(crate) mod value_kind {
    use super::c_int;
    pub(crate) const ARGUMENT: c_int = 0;
    pub(crate) const FUNCTION: c_int = 5;
    pub(crate) const ALIAS: c_int = 6;
    pub(crate) const IFUNC: c_int = 7;
    pub(crate) const GLOBAL: c_int = 8;
    pub(crate) const EXPRESSION: c_int = 10;
    pub(crate) const ARRAY: c_int = 11;
    pub(crate) const STRUCT: c_int = 12;
    pub(crate) const VECTOR: c_int = 13;
    pub(crate) const INT: c_int = 18;
    pub(crate) const METADATA: c_int = 22;
    pub(crate) const ASSEMBLY: c_int = 23;
    pub(crate) const INSTRUCTION: c_int = 24;
    pub(crate) const POINTER_AUTHENTICATION: c_int = 27;

    /// A kind by these numbers, which are those up to LLVM 22. 23 has one more after integers, and all that follow are one higher; nobody here asks for
    /// the two next to each other.
    pub(crate) fn of(number: c_int, version: u32) -> c_int {
        match version >= 23 && number > INT + 1 {
            true => number - 1,
            false => number,
        }
    }
}

/// `LLVMMetadataKind` of scopes.
pub(crate) mod metadata_kind {
    use super::c_uint;
    pub(crate) const SUBPROGRAM: c_uint = 17;
    pub(crate) const LEXICAL_BLOCK: c_uint = 18;
    pub(crate) const LEXICAL_BLOCK_FILE: c_uint = 19;
}

/// `LLVMLinkage`, as far as it is looked at.
pub(crate) mod linkage {
    use super::c_int;
    pub(crate) const AVAILABLE_EXTERNALLY: c_int = 1;
    pub(crate) const LINK_ONCE_ANY: c_int = 2;
    pub(crate) const WEAK_ODR: c_int = 6;
    pub(crate) const INTERNAL: c_int = 8;
    pub(crate) const PRIVATE: c_int = 9;
    pub(crate) const COMMON: c_int = 14;
}
